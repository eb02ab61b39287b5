import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { ElementRole } from '../model/api-types.js';
import { type ExpiryText, expiryMember } from '../model/instants.js';
import { visibleText } from '../model/visible-text.js';
import { Failure, SubmitButton, useWork } from '../part/action-button.js';
import { ExpiryField } from '../part/expiry-field.js';
import { Section } from '../part/section.js';
import type { OpenedElement } from './opened-element.js';

interface AddUserProps {
	readonly element: OpenedElement;
	readonly roles: readonly ElementRole[];
	/** Called with a human-readable message after the user was added. */
	readonly onAdded: (said: string) => Promise<void>;
}

/** Form that adds a user with a first role. If no key is entered, the e-mail address becomes the key. */
export function AddUser({ element, roles, onAdded }: AddUserProps) {
	const work = useWork();
	const end = useSignal<ExpiryText>('');
	const form = useRef<HTMLFormElement>(null);
	const add = async () => {
		const fields = new FormData(form.current ?? undefined);
		const text = (name: string) => String(fields.get(name) ?? '').trim() || undefined;
		const email = text('email');
		const user = {
			key: text('key') ?? email ?? '',
			email,
			first_name: text('first_name'),
			last_name: text('last_name'),
			role: text('role'),
			...expiryMember(end.value),
			resource_instance_id: element.instance ?? undefined,
		};
		const { status } = await element.api.send<{ readonly status?: string }>(
			'POST',
			`${element.path()}/data/users`,
			user,
		);
		form.current?.reset();
		end.value = '';
		// An invite has a status, but a user has none.
		await onAdded(`${user.first_name ?? user.key} was ${status === 'pending' ? 'invited' : 'added'}.`);
	};
	return (
		<Section id="add" title="Add a user">
			<form ref={form} onSubmit={work.submit(add)}>
				<label>
					<span>Email</span>
					<input name="email" type="email" required autocomplete="off" />
				</label>
				<label>
					<span>User key (optional)</span>
					<input name="key" maxLength={200} autocomplete="off" />
				</label>
				<label>
					<span>First name (optional)</span>
					<input name="first_name" maxLength={200} autocomplete="off" />
				</label>
				<label>
					<span>Last name (optional)</span>
					<input name="last_name" maxLength={200} autocomplete="off" />
				</label>
				<label>
					<span>Role</span>
					<select name="role">
						{roles.map(({ key, name }) => (
							<option key={key} value={key} selected={key === element.config.settings['default_role']}>
								{visibleText(name)}
							</option>
						))}
					</select>
				</label>
				<ExpiryField end={end} />
				<SubmitButton work={work}>Add user</SubmitButton>
				<Failure text={work.failure} />
			</form>
		</Section>
	);
}
