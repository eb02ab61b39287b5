import { readPointState } from '../../../model/point-state.js';
import { management } from '../../api.js';
import { KeyText } from '../../part/key-text.js';
import { DataTable } from '../../part/table/data-table.js';
import { TimeText } from '../../part/time-text.js';
import { useLoaded } from '../../use-loaded.js';
import { usePolling } from '../../use-polling.js';

/** Decision point report interval, in milliseconds. */
const reportMilliseconds = 60_000;

/** Decisions missing from the log, as reported by decision points. */
export function LogLosses() {
	const loaded = useLoaded((signal) => management.get('/v2/pdps/{proj_id}/{env_id}/instances', { signal }), []);
	usePolling(loaded.reload, reportMilliseconds, loaded.loading);
	if (loaded.value === null) return null;
	const points = loaded.value.map((point) => ({ ...point, read: readPointState(point.state) }));
	const lost = points.reduce((sum, { read }) => sum + read.lost, 0);
	const sampledOut = points.reduce((sum, { read }) => sum + read.sampledOut, 0);
	if (points.length === 0)
		return <p class="quiet">No decision point has reported yet, so the log may be incomplete.</p>;
	if (lost + sampledOut === 0) {
		return <p class="quiet">No decisions lost or skipped, according to the last reports.</p>;
	}
	return (
		<details class={lost > 0 ? 'notice' : ''}>
			<summary>
				The log is incomplete:{' '}
				{[lost > 0 && `${shown(lost)} lost`, sampledOut > 0 && `${shown(sampledOut)} skipped by sampling`]
					.filter(Boolean)
					.join(', ')}
			</summary>
			<DataTable
				caption="Unlogged decisions since each decision point started"
				rows={points}
				rowKey={({ pdp_instance_id }) => pdp_instance_id}
				columns={[
					{ title: 'Decision point', cell: ({ pdp_instance_id }) => <KeyText text={pdp_instance_id} /> },
					{ title: 'Lost', align: 'end', cell: ({ read }) => shown(read.lost) },
					{ title: 'Skipped by sampling', align: 'end', cell: ({ read }) => shown(read.sampledOut) },
					{ title: 'Last seen', cell: ({ last_seen_at }) => <TimeText at={last_seen_at} /> },
				]}
			/>
			<p class="quiet">
				A decision is lost if the log receiver rejects it or the queue is full. By default, all denials and one in ten
				allowed checks are logged; <code>PDP_DECISION_LOG_SAMPLING</code> sets the rate.
			</p>
		</details>
	);
}

function shown(count: number): string {
	return count.toLocaleString('en');
}
