import { useSignal } from '@preact/signals';
import type { ElementRole } from '../model/api-types.js';
import { type ExpiryText, expiryMember } from '../model/instants.js';
import { visibleText } from '../model/visible-text.js';
import { Failure, SubmitButton, useWork } from '../part/action-button.js';
import { ExpiryField } from '../part/expiry-field.js';

interface GiveRoleProps {
	/** User's display name. */
	readonly name: string;
	readonly roles: readonly ElementRole[];
	readonly give: (role: ElementRole, ending: { readonly expires_at?: string }) => Promise<void>;
}

/** Form that assigns a role with an optional expiry. Uses a form so the browser rejects incomplete dates. */
export function GiveRole({ name, roles, give }: GiveRoleProps) {
	const chosen = useSignal('');
	const end = useSignal<ExpiryText>('');
	const work = useWork();
	const role = roles.find(({ key }) => key === chosen.value) ?? roles[0];
	if (role === undefined) return null;
	const submit = async () => {
		await give(role, expiryMember(end.value));
		end.value = '';
	};
	return (
		<form class="line" onSubmit={work.submit(submit)}>
			<select
				aria-label={`New role for ${name}`}
				value={role.key}
				onChange={(event) => {
					chosen.value = event.currentTarget.value;
				}}
			>
				{roles.map(({ key, name: shown }) => (
					<option key={key} value={key}>
						{visibleText(shown)}
					</option>
				))}
			</select>
			<ExpiryField end={end} subject={`role for ${name}`} />
			<SubmitButton work={work} secondary aria-label={`Assign role to ${name}`}>
				Assign role
			</SubmitButton>
			<Failure text={work.failure} />
		</form>
	);
}
