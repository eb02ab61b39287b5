import { useSignal } from '@preact/signals';
import type { LeveledRole } from '../model/api-types.js';
import { type ExpiryText, expiryMember } from '../model/instants.js';
import { visibleText } from '../model/visible-text.js';
import { Failure, SubmitButton, useWork } from '../part/action-button.js';
import { announce } from '../part/announce.js';
import { ExpiryField, longestApproval } from '../part/expiry-field.js';
import { LongText } from '../part/long-text.js';
import { Section } from '../part/section.js';
import { SelectField } from '../part/select-field.js';
import { bound } from '../part/setter.js';
import { TextField } from '../part/text-field.js';
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
		<Section id="ask" title={kind.hasRole ? 'Request access' : 'Request approval'}>
			{element.instance !== null && <p class="quiet">For {visibleText(element.instance)}</p>}
			<form onSubmit={work.submit(ask)}>
				{kind.hasRole && <RoleField roles={roles} value={chosen} onChange={(id) => (role.value = id)} />}
				{!kind.hasRole && element.instance === null && (
					<TextField label="Resource instance (optional)" {...bound(instance)} maxLength={200} />
				)}
				<ExpiryField end={end} hint={longestApproval(element.config)} />
				<LongText label="Reason (optional)" text={reason} />
				<SubmitButton work={work}>Send request</SubmitButton>
				<Failure text={work.failure} />
			</form>
		</Section>
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
		return <TextField label="Role key" required value={value} onValue={onChange} />;
	}
	return (
		<SelectField
			label="Role"
			value={value}
			options={roles.map(({ id, name }) => [id, visibleText(name)])}
			onValue={onChange}
		/>
	);
}
