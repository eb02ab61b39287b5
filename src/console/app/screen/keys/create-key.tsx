import { useSignal } from '@preact/signals';
import { Failure, useWork } from '../../../part/action-button.js';
import { answered, management } from '../../api.js';
import { confirmWrite } from '../../part/confirm.js';
import { Dialog } from '../../part/dialog.js';
import { openSession } from '../../session.js';

const accessLevels = ['read', 'write', 'admin'] as const;
const ownerTypes = ['member', 'pdp_config'] as const;

/** Form for a new API key of the open environment. `onCreated` receives the secret. */
export function CreateKey({ onCreated }: { readonly onCreated: (secret: string | null) => void }) {
	const isOpen = useSignal(false);
	const name = useSignal('');
	const access = useSignal<(typeof accessLevels)[number]>('read');
	const owner = useSignal<(typeof ownerTypes)[number]>('member');
	const work = useWork();
	const close = () => {
		isOpen.value = false;
	};
	const create = async () => {
		if (!(await confirmWrite('Create key', 'The key gives access to this environment.'))) return;
		const { environment } = openSession();
		const body = {
			object_type: 'env' as const,
			environment_id: environment.id,
			access_level: access.value,
			owner_type: owner.value,
			...(name.value.trim() !== '' && { name: name.value.trim() }),
		};
		const created = await answered(management.POST('/v2/api-key', { body }));
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
				<Dialog title={`New key for ${openSession().environment.key}`} onClose={close}>
					<form
						onSubmit={(event) => {
							event.preventDefault();
							void work.run(create);
						}}
					>
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
