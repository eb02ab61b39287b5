import { useSignal } from '@preact/signals';
import type { LeveledRole } from '../model/api-types.js';
import { type ExpiryText, expiryMember } from '../model/instants.js';
import { visibleText } from '../model/visible-text.js';
import { Failure, useWork } from '../part/action-button.js';
import { announce } from '../part/announce.js';
import { ExpiryField, longestApproval } from '../part/expiry-field.js';
import { LongText } from '../part/long-text.js';
import type { OpenedElement } from './opened-element.js';
import type { RequestKind } from './request-kind.js';

interface RequestFormProps {
	readonly element: OpenedElement;
	readonly kind: RequestKind;
	readonly roles: readonly LeveledRole[];
	readonly onMade: () => void;
}

/** Form for requesting a role or an operation approval. */
export function RequestForm({ element, kind, roles, onMade }: RequestFormProps) {
	const role = useSignal('');
	const instance = useSignal(element.instance ?? '');
	const reason = useSignal('');
	const end = useSignal<ExpiryText>('');
	const work = useWork();
	const chosen = role.value || (roles[0]?.id ?? '');
	const ask = async () => {
		await element.api.send('POST', `${element.path()}/${kind.collection}`, {
			access_request_details: {
				...detailsOf(element, kind, chosen, instance.value.trim()),
				...expiryMember(end.value),
			},
			...(reason.value.trim() !== '' && { reason: reason.value.trim() }),
		});
		reason.value = '';
		end.value = '';
		announce('Request sent.');
		onMade();
	};
	return (
		<section aria-labelledby="ask">
			<h2 id="ask">{kind.hasRole ? 'Request access' : 'Request approval'}</h2>
			{element.instance !== null && <p class="quiet">For {visibleText(element.instance)}</p>}
			<form onSubmit={work.submit(ask)}>
				{kind.hasRole && <RoleField roles={roles} value={chosen} onChange={(id) => (role.value = id)} />}
				{!kind.hasRole && element.instance === null && (
					<label>
						<span>Resource instance (optional)</span>
						<input
							value={instance.value}
							maxLength={200}
							onInput={(event) => {
								instance.value = event.currentTarget.value;
							}}
						/>
					</label>
				)}
				<ExpiryField end={end} hint={longestApproval(element.config)} />
				<LongText label="Reason (optional)" text={reason} />
				<button type="submit" class="primary" aria-disabled={work.busy}>
					Send request
				</button>
				<Failure text={work.failure} />
			</form>
		</section>
	);
}

function detailsOf({ actor, config }: OpenedElement, { hasRole }: RequestKind, role: string, instance: string): object {
	const place = instance === '' ? {} : { resource_instance: instance };
	if (hasRole) return { tenant: actor.tenant_key, role, ...place };
	return { tenant: actor.tenant_key, resource: String(config.settings['resource'] ?? ''), ...place };
}

interface RoleFieldProps {
	readonly roles: readonly LeveledRole[];
	readonly value: string;
	readonly onChange: (id: string) => void;
}

/** Role selection. If the element has no roles, this is a field for a role key. */
export function RoleField({ roles, value, onChange }: RoleFieldProps) {
	if (roles.length === 0) {
		return (
			<label>
				<span>Role key</span>
				<input required value={value} onInput={(event) => onChange(event.currentTarget.value)} />
			</label>
		);
	}
	return (
		<label>
			<span>Role</span>
			<select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
				{roles.map(({ id, name }) => (
					<option key={id} value={id}>
						{visibleText(name)}
					</option>
				))}
			</select>
		</label>
	);
}
