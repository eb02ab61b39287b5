import { useSignal } from '@preact/signals';
import { readPointState } from '../../../model/point-state.js';
import { program } from '../../../model/program.js';
import { ActionButton } from '../../../part/action-button.js';
import { management } from '../../api.js';
import { Empty } from '../../part/empty.js';
import { KeyText } from '../../part/key-text.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { NameText } from '../../part/name-text.js';
import { Screen } from '../../part/screen.js';
import { SecretDialog } from '../../part/secret-dialog.js';
import { DataTable } from '../../part/table/data-table.js';
import { TimeText } from '../../part/time-text.js';
import { type KeyScope, rotateKey } from '../../rotate-key.js';
import { newestRevision, openSession } from '../../session.js';
import { useLoaded } from '../../use-loaded.js';
import { usePolling } from '../../use-polling.js';

/** Refresh interval while the page is visible, in milliseconds. */
const pollMilliseconds = 10_000;

/** The decision points screen: lists decision points and their state. */
export function DecisionPointsScreen() {
	return (
		<Screen
			title="Decision points"
			about="Decision points report every minute and when their state changes. The list shows the 100 most recent."
		>
			<Instances />
			<PointKeys />
		</Screen>
	);
}

function Instances() {
	const loaded = useLoaded((signal) => management.get('/v2/pdps/{proj_id}/{env_id}/instances', { signal }), []);
	usePolling(loaded.reload, pollMilliseconds, loaded.loading);
	return (
		<LoadedFrame loaded={loaded}>
			{(instances) =>
				instances.length === 0 ? (
					<Empty title="No decision points yet" docs={{ page: 'operate/deployment', title: 'Deployment' }}>
						<p>
							Start one with <code>PDP_API_KEY</code> set to a key of this environment: <code>{program} pdp</code>.
						</p>
					</Empty>
				) : (
					<DataTable
						caption="Decision points, most recent report first"
						rows={instances.map((instance) => ({ ...instance, read: readPointState(instance.state) }))}
						rowKey={({ pdp_instance_id }) => pdp_instance_id}
						columns={[
							{ title: 'Name', cell: ({ pdp_instance_id }) => <KeyText text={pdp_instance_id} /> },
							{ title: 'State', cell: ({ read }) => <PointState state={read.state} detail={read.detail} /> },
							{ title: 'Revision', align: 'end', cell: ({ read }) => <Revision {...read} /> },
							{ title: 'Policy', align: 'end', cell: ({ read }) => read.policyRevision ?? 'unknown' },
							{ title: 'Version', cell: ({ read }) => <KeyText text={read.version ?? 'unknown'} /> },
							{ title: 'Mode', cell: ({ read }) => <KeyText text={read.mode ?? 'unknown'} /> },
							{ title: 'Workers', align: 'end', cell: ({ read }) => read.workers },
							{
								title: 'Checks per second',
								align: 'end',
								cell: ({ read }) => read.checksPerSecond?.toLocaleString('en') ?? 'unknown',
							},
							{ title: 'Lost decisions', align: 'end', cell: ({ read }) => read.lost.toLocaleString('en') },
							{ title: 'Last seen', cell: ({ last_seen_at }) => <TimeText at={last_seen_at} /> },
						]}
					/>
				)
			}
		</LoadedFrame>
	);
}

function PointState({ state, detail }: { readonly state: string; readonly detail: string | null }) {
	const kind = state === 'ready' ? 'good' : state === 'deleted' || state === 'refused' ? 'bad' : 'warn';
	return (
		<>
			<span class={`badge ${kind}`}>{state}</span> {detail}
		</>
	);
}

function Revision({ revision }: { readonly revision: number | null }) {
	if (revision === null) return <>none</>;
	const newest = newestRevision.value;
	return (
		<>
			{revision} {newest > revision && <small class="quiet">(last report; newest: {newest})</small>}
		</>
	);
}

/** API keys for the environment's decision points, without secrets. */
function PointKeys() {
	const isAdmin = openSession().key.access_level === 'admin';
	const secret = useSignal<string | null>(null);
	const loaded = useLoaded(
		(signal) => management.get('/v2/api-key', { query: { object_type: 'env', per_page: 100 }, signal }),
		[],
	);
	const rotate = async (key: KeyScope & { readonly id: string }) => {
		const text =
			'Rotate the key? The old secret stops working immediately. Decision points with the old secret stop ' +
			'responding until they get the new secret.';
		const rotated = await rotateKey(key, text);
		if (rotated === null) return;
		secret.value = rotated;
		loaded.reload();
	};
	return (
		<>
			<h2>Keys</h2>
			<LoadedFrame loaded={loaded}>
				{({ data }) => {
					const own = data.filter(
						({ owner_type, environment_id }) =>
							owner_type === 'pdp_config' && environment_id === openSession().environment.id,
					);
					if (own.length === 0) {
						return (
							<Empty title="No decision point keys yet">
								<p>A decision point can use any key of the environment. Create a key under Keys and members.</p>
							</Empty>
						);
					}
					return (
						<DataTable
							caption="Decision point keys"
							rows={own}
							rowKey={({ id }) => id}
							columns={[
								{ title: 'Name', cell: ({ name }) => <NameText text={name ?? 'unnamed'} /> },
								{
									title: 'Last used',
									cell: ({ last_used_at }) => (last_used_at === null ? 'never' : <TimeText at={last_used_at} />),
								},
								{
									title: 'Action',
									align: 'end',
									cell: (key) =>
										isAdmin ? (
											<ActionButton act={() => rotate(key)} label={`Rotate key ${key.name ?? key.id}`}>
												Rotate
											</ActionButton>
										) : (
											<span class="quiet">Admin key required</span>
										),
								},
							]}
						/>
					);
				}}
			</LoadedFrame>
			<SecretDialog secret={secret} title="New key" />
		</>
	);
}
