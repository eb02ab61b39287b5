import { useSignal } from '@preact/signals';
import { announce } from '../../../../part/announce.js';
import { TextField } from '../../../../part/text-field.js';
import { management } from '../../../api.js';
import { confirmWrite } from '../../../part/confirm.js';
import { reloadAll } from '../../../use-loaded.js';
import { WriteForm } from '../write-form.js';

interface UserNamesProps {
	readonly user: {
		readonly id: string;
		readonly key: string;
		readonly email: string | null;
		readonly first_name: string | null;
		readonly last_name: string | null;
	};
}

const fields = { first_name: 'First name', last_name: 'Last name', email: 'Email' } as const;

type Field = keyof typeof fields;

/** Form for a user's names and e-mail address. An empty field clears the stored value. */
export function UserNames({ user }: UserNamesProps) {
	const values = useSignal<Partial<Record<Field, string>>>({});
	const send = async () => {
		const body = Object.fromEntries(Object.entries(values.value).map(([name, value]) => [name, value || null]));
		if (!(await confirmWrite('Save names', `Save the changes to ${user.key}’s name or email?`))) return;
		await management.patch('/v2/facts/{proj_id}/{env_id}/users/{user_id}', { path: { user_id: user.id }, body });
		announce(`Saved ${user.key}’s names.`);
		values.value = {};
		reloadAll();
	};
	return (
		<WriteForm title="Edit names" button="Save" send={send}>
			{Object.entries(fields).map(([name, label]) => (
				<TextField
					key={name}
					label={label}
					value={values.value[name as Field] ?? user[name as Field] ?? ''}
					autocomplete="off"
					onValue={(text) => {
						values.value = { ...values.value, [name]: text };
					}}
				/>
			))}
		</WriteForm>
	);
}
