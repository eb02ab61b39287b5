import { useSignal } from '@preact/signals';
import { ActionButton } from '../../../part/action-button.js';
import { announce } from '../../../part/announce.js';
import { SelectField } from '../../../part/select-field.js';
import { management } from '../../api.js';
import { KeyText } from '../../part/key-text.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { NameText } from '../../part/name-text.js';
import { Screen } from '../../part/screen.js';
import { SecretDialog } from '../../part/secret-dialog.js';
import { DataTable } from '../../part/table/data-table.js';
import { Pager } from '../../part/table/pager.js';
import { TimeText } from '../../part/time-text.js';
import { confirmKey, type KeyScope, rotateKey } from '../../rotate-key.js';
import { openSession } from '../../session.js';
import { useLoaded } from '../../use-loaded.js';
import { useSearch } from '../../use-search.js';
import { CreateKey } from './create-key.js';

const perPage = 30;

const levels = {
	org: 'organization',
	project: 'project',
	env: 'environment',
} as const;

interface ListedKey extends KeyScope {
	readonly id: string;
}

/** The keys screen: API keys and members. */
export function KeysScreen() {
	const { key } = openSession();
	const isAdmin = key.access_level === 'admin';
	const search = useSearch();
	const page = Number(search.get('page')) || 1;
	const type = search.get('opens');
	const secret = useSignal<string | null>(null);
	const loaded = useLoaded(
		(signal) => {
			const object_type = isLevel(type) ? type : undefined;
			const query = { page, per_page: perPage, ...(object_type && { object_type }) };
			return management.get('/v2/api-key', { query, signal });
		},
		[page, type],
	);
	const rotate = async (named: ListedKey) => {
		const text =
			'Rotate the key? The old secret stops working immediately, for all decision points and applications that ' +
			'use it.';
		const rotated = await rotateKey(named, text);
		if (rotated === null) return;
		secret.value = rotated;
		loaded.reload();
	};
	const revoke = async (named: ListedKey) => {
		const text = 'Revoke the key? It stops working immediately. This cannot be undone.';
		const header = await confirmKey('Revoke key', text, named, { always: true });
		if (header === null) return;
		await management.delete('/v2/api-key/{api_key_id}', { path: { api_key_id: named.id }, header });
		announce('Key revoked.');
		loaded.reload();
	};
	return (
		<Screen
			title="Keys and members"
			about="Anyone with a key can call the API. Self-hosted installations have no other members."
		>
			<div class="line">
				<SelectField
					inline
					label="Scope"
					value={type}
					empty="All"
					options={levels}
					onValue={(value) => search.set({ opens: value, page: '' })}
				/>
				{isAdmin && (
					<CreateKey
						onCreated={(created) => {
							secret.value = created;
							loaded.reload();
						}}
					/>
				)}
			</div>
			<LoadedFrame loaded={loaded}>
				{(found) => (
					<>
						<DataTable
							caption="API keys"
							rows={found.data}
							rowKey={({ id }) => id}
							columns={[
								{
									title: 'Name',
									cell: ({ id, name }) => (
										<>
											<NameText text={name ?? 'unnamed'} /> {id === key.id && <span class="badge">this session</span>}
										</>
									),
								},
								{
									title: 'Scope',
									cell: ({ object_type, project, env }) => (
										<>
											{levels[object_type]}{' '}
											{project !== null && <KeyText text={[project.key, env?.key].filter(Boolean).join('/')} />}
										</>
									),
								},
								{ title: 'Access level', cell: ({ access_level }) => access_level },
								{ title: 'Used by', cell: ({ owner_type }) => owner_type.replace('_', ' ') },
								{ title: 'Created', cell: ({ created_at }) => <TimeText at={created_at} /> },
								{
									title: 'Last used',
									cell: ({ last_used_at }) => (last_used_at === null ? 'never' : <TimeText at={last_used_at} />),
								},
								{
									title: 'Actions',
									align: 'end',
									cell: (row) =>
										isAdmin ? (
											<span class="line">
												<ActionButton act={() => rotate(row)} label={`Rotate ${row.name ?? row.id}`}>
													Rotate
												</ActionButton>
												<ActionButton act={() => revoke(row)} label={`Revoke ${row.name ?? row.id}`}>
													Revoke
												</ActionButton>
											</span>
										) : (
											<span class="quiet">Admin key required</span>
										),
								},
							]}
						/>
						<Pager page={page} list={found} />
					</>
				)}
			</LoadedFrame>
			<SecretDialog secret={secret} title="Key secret" />
		</Screen>
	);
}

function isLevel(text: string): text is keyof typeof levels {
	return Object.hasOwn(levels, text);
}
