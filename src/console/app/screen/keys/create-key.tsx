import { useSignal } from '@preact/signals';
import { Failure, SubmitButton, useWork } from '../../../part/action-button.js';
import { SelectField } from '../../../part/select-field.js';
import { bound, setter } from '../../../part/setter.js';
import { TextField } from '../../../part/text-field.js';
import { management } from '../../api.js';
import { Dialog } from '../../part/dialog.js';
import { DialogButton } from '../../part/dialog-button.js';
import { confirmKey } from '../../rotate-key.js';
import { openSession } from '../../session.js';

const scopes = {
	env: 'This environment',
	project: 'This project: all of its environments',
	org: 'The organization: all of its projects',
} as const;

type Scope = keyof typeof scopes;

/** Scopes from narrow to wide. A key can create keys up to its own scope. */
const scopeOrder: readonly Scope[] = ['env', 'project', 'org'];

interface CreateKeyProps {
	/** Receives the secret. */
	readonly onCreated: (secret: string | null) => void;
}

/** Button that opens a form for a new API key. */
export function CreateKey({ onCreated }: CreateKeyProps) {
	return (
		<DialogButton text="Create key">{(close) => <CreateDialog onClose={close} onCreated={onCreated} />}</DialogButton>
	);
}

function CreateDialog({ onClose, onCreated }: CreateKeyProps & { readonly onClose: () => void }) {
	const name = useSignal('');
	const access = useSignal<'read' | 'write' | 'admin'>('read');
	const owner = useSignal<'member' | 'pdp_config'>('member');
	const scope = useSignal<Scope>('env');
	const work = useWork();
	const create = async () => {
		const { environment, project } = openSession();
		const object_type = scope.value;
		const text = `Create a key? It gives access to ${scopeText(object_type)}.`;
		const header = await confirmKey('Create key', text, { object_type, project });
		if (header === null) return;
		const body = {
			object_type,
			...(object_type === 'env' && { environment_id: environment.id }),
			...(object_type === 'project' && { project_id: project.id }),
			access_level: access.value,
			// A decision point serves a single environment.
			owner_type: object_type === 'env' ? owner.value : ('member' as const),
			...(name.value.trim() !== '' && { name: name.value.trim() }),
		};
		const created = await management.post('/v2/api-key', { header, body });
		onClose();
		onCreated(created.secret);
	};
	return (
		<Dialog title="New API key" onClose={onClose}>
			<form onSubmit={work.submit(create)}>
				<TextField label="Name" {...bound(name)} />
				<ScopeField value={scope.value} onValue={setter(scope)} />
				<SelectField
					label="Access level"
					{...bound(access)}
					options={{
						read: 'Read',
						write: 'Write: read and write, except secrets and keys',
						admin: 'Admin: full access',
					}}
				/>
				{scope.value === 'env' && (
					<SelectField
						label="Used by"
						{...bound(owner)}
						options={{ member: 'Person or application', pdp_config: 'Decision points' }}
					/>
				)}
				<SubmitButton work={work}>Create key</SubmitButton>
				<Failure text={work.failure} />
			</form>
		</Dialog>
	);
}

/** Scope of the new key. Omitted if this session's key can only create keys of the environment. */
function ScopeField({ value, onValue }: { readonly value: Scope; readonly onValue: (value: Scope) => void }) {
	const { object_type } = openSession().key;
	if (object_type === 'env') return null;
	return (
		<SelectField
			label="Scope"
			value={value}
			options={scopeOrder.slice(0, scopeOrder.indexOf(object_type) + 1).map((one) => [one, scopes[one]])}
			onValue={onValue}
		/>
	);
}

function scopeText(scope: Scope): string {
	const { organization, project, environment } = openSession();
	if (scope === 'org') return `every project of the organization \`${organization.key}\``;
	return scope === 'project' ? `every environment of the project \`${project.key}\`` : `\`${environment.key}\``;
}
