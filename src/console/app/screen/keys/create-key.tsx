import { useSignal } from '@preact/signals';
import { Failure, useWork } from '../../../part/action-button.js';
import { management } from '../../api.js';
import { Dialog } from '../../part/dialog.js';
import { confirmKey } from '../../rotate-key.js';
import { openSession } from '../../session.js';

const accessLevels = ['read', 'write', 'admin'] as const;
const ownerTypes = ['member', 'pdp_config'] as const;

const scopes = {
	env: 'This environment',
	project: 'This project: all of its environments',
	org: 'The organization: all of its projects',
} as const;

type Scope = keyof typeof scopes;

/** Scopes from narrow to wide. A key can create keys up to its own scope. */
const scopeOrder: readonly Scope[] = ['env', 'project', 'org'];

/** Form for a new API key. `onCreated` receives the secret. */
export function CreateKey({ onCreated }: { readonly onCreated: (secret: string | null) => void }) {
	const isOpen = useSignal(false);
	const name = useSignal('');
	const access = useSignal<(typeof accessLevels)[number]>('read');
	const owner = useSignal<(typeof ownerTypes)[number]>('member');
	const scope = useSignal<Scope>('env');
	const work = useWork();
	const close = () => {
		isOpen.value = false;
	};
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
		close();
		onCreated(created.secret);
	};
	return (
		<>
			<button
				type="button"
				onClick={() => {
					isOpen.value = true;
				}}
			>
				Create key
			</button>
			{isOpen.value && (
				<Dialog title="New API key" onClose={close}>
					<form onSubmit={work.submit(create)}>
						<label>
							<span>Name</span>
							<input
								type="text"
								value={name.value}
								onInput={(event) => {
									name.value = event.currentTarget.value;
								}}
							/>
						</label>
						<ScopeField
							value={scope.value}
							onValue={(chosen) => {
								scope.value = chosen;
							}}
						/>
						<label>
							<span>Access level</span>
							<select
								value={access.value}
								onChange={(event) => {
									access.value = accessLevels.find((one) => one === event.currentTarget.value) ?? 'read';
								}}
							>
								<option value="read">Read</option>
								<option value="write">Write: read and write, except secrets and keys</option>
								<option value="admin">Admin: full access</option>
							</select>
						</label>
						{scope.value === 'env' && (
							<label>
								<span>Used by</span>
								<select
									value={owner.value}
									onChange={(event) => {
										owner.value = ownerTypes.find((one) => one === event.currentTarget.value) ?? 'member';
									}}
								>
									<option value="member">Person or application</option>
									<option value="pdp_config">Decision points</option>
								</select>
							</label>
						)}
						<button type="submit" class="primary" aria-disabled={work.busy}>
							Create key
						</button>
						<Failure text={work.failure} />
					</form>
				</Dialog>
			)}
		</>
	);
}

interface ScopeFieldProps {
	readonly value: Scope;
	readonly onValue: (value: Scope) => void;
}

/** Scope of the new key. Omitted if this session's key can only create keys of the environment. */
function ScopeField({ value, onValue }: ScopeFieldProps) {
	const { object_type } = openSession().key;
	if (object_type === 'env') return null;
	return (
		<label>
			<span>Scope</span>
			<select
				value={value}
				onChange={(event) => onValue(scopeOrder.find((one) => one === event.currentTarget.value) ?? 'env')}
			>
				{scopeOrder.slice(0, scopeOrder.indexOf(object_type) + 1).map((one) => (
					<option key={one} value={one}>
						{scopes[one]}
					</option>
				))}
			</select>
		</label>
	);
}

function scopeText(scope: Scope): string {
	const { organization, project, environment } = openSession();
	if (scope === 'org') return `every project of the organization \`${organization.key}\``;
	return scope === 'project' ? `every environment of the project \`${project.key}\`` : `\`${environment.key}\``;
}
