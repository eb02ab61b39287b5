import { readPointState } from '../../../model/point-state.js';
import { answered, management } from '../../api.js';
import { DataTable } from '../../part/data-table.js';
import { KeyText } from '../../part/key-text.js';
import { TimeText } from '../../part/time-text.js';
import { environmentPath } from '../../session.js';
import { useLoaded } from '../../use-loaded.js';
import { usePolling } from '../../use-polling.js';

/** Decision point report interval, in milliseconds. */
const reportMilliseconds = 60_000;

/** Decisions missing from the log, as reported by decision points. */
export function LogLosses() {
	const loaded = useLoaded(
		(signal) =>
			answered(
				management.GET('/v2/pdps/{proj_id}/{env_id}/instances', { params: { path: environmentPath() }, signal }),
			),
		[],
	);
	usePolling(loaded.reload, reportMilliseconds, loaded.loading);
	if (loaded.value === null) return null;
	const points = loaded.value.map((point) => ({ ...point, read: readPointState(point.state) }));
	const lost = points.reduce((sum, { read }) => sum + read.lost, 0);
	const sampledOut = points.reduce((sum, { read }) => sum + read.sampledOut, 0);
	if (points.length === 0)
		return <p class="quiet">No decision point has reported, so nobody knows what is missing here.</p>;
	if (lost + sampledOut === 0) {
		return <p class="quiet">No decision was lost or left out, by the last reports of the decision points.</p>;
	}
	return (
		<details class={lost > 0 ? 'notice' : ''}>
			<summary>
				Not every decision is here:{' '}
				{[lost > 0 && `${shown(lost)} lost`, sampledOut > 0 && `${shown(sampledOut)} left out by sampling`]
					.filter(Boolean)
					.join(', ')}
			</summary>
			<DataTable
				caption="What decision points did not log since they started"
				rows={points}
				rowKey={({ pdp_instance_id }) => pdp_instance_id}
				columns={[
					{ title: 'Decision point', cell: ({ pdp_instance_id }) => <KeyText text={pdp_instance_id} /> },
					{ title: 'Lost', align: 'end', cell: ({ read }) => shown(read.lost) },
					{ title: 'Left out by sampling', align: 'end', cell: ({ read }) => shown(read.sampledOut) },
					{ title: 'Reported', cell: ({ last_seen_at }) => <TimeText at={last_seen_at} /> },
				]}
			/>
			<p class="quiet">
				Lost is what a receiver of the log did not take. By default one in ten of what is allowed is logged, and all
				that is denied: <code>PDP_DECISION_LOG_SAMPLING</code> says so.
			</p>
		</details>
	);
}

function shown(count: number): string {
	return count.toLocaleString('en');
}
