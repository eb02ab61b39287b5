import { useSignal } from '@preact/signals';
import { ActionButton } from '../../../part/action-button.js';
import { announce } from '../../../part/announce.js';
import { answered, management } from '../../api.js';
import { confirmWrite } from '../../part/confirm.js';
import { DataTable } from '../../part/data-table.js';
import { KeyText } from '../../part/key-text.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { Pager } from '../../part/pager.js';
import { TimeText } from '../../part/time-text.js';
import { environmentPath, mayWrite } from '../../session.js';
import { useLoaded } from '../../use-loaded.js';
import { usePolling } from '../../use-polling.js';

const perPage = 10;
/** Refresh interval for deliveries while the page is visible, in milliseconds. */
const pollMilliseconds = 3000;

interface ElementWebhookProps {
	readonly elementKey: string;
	readonly url: string;
}

/** Element webhook: a test button and the deliveries. */
export function ElementWebhook({ elementKey, url }: ElementWebhookProps) {
	const path = { ...environmentPath(), elements_config_id: elementKey };
	const sendTest = async () => {
		if (!(await confirmWrite('Send test event', `Send a test event to ${url}.`))) return;
		await answered(
			management.POST('/v2/elements/{proj_id}/{env_id}/config/{elements_config_id}/webhook_test', { params: { path } }),
		);
		announce('Test event sent. See the delivery below.');
	};
	return (
		<>
			<p class="line">
				<span>
					Webhook URL: <KeyText text={url} />
				</span>
				{mayWrite.value && <ActionButton act={sendTest}>Send test event</ActionButton>}
			</p>
			{mayWrite.value ? (
				<Deliveries elementKey={elementKey} />
			) : (
				<p class="quiet">Deliveries contain email addresses. A key with write access is required to see them.</p>
			)}
		</>
	);
}

function Deliveries({ elementKey }: { readonly elementKey: string }) {
	const page = useSignal(1);
	const loaded = useLoaded(
		(signal) => {
			const path = { ...environmentPath(), elements_config_id: elementKey };
			const query = { page: page.value, per_page: perPage };
			return answered(
				management.GET('/v2/elements/{proj_id}/{env_id}/config/{elements_config_id}/webhook_deliveries', {
					params: { path, query },
					signal,
				}),
			);
		},
		[page.value],
	);
	usePolling(loaded.reload, pollMilliseconds, loaded.loading);
	return (
		<LoadedFrame loaded={loaded}>
			{({ data, page_count, total_count }) =>
				total_count === 0 ? (
					<p class="quiet">No deliveries yet.</p>
				) : (
					<>
						<DataTable
							caption="Deliveries, newest first"
							captioned
							rows={data}
							rowKey={({ id }) => id}
							columns={[
								{ title: 'Time', cell: ({ created_at }) => <TimeText at={created_at} /> },
								{ title: 'Event', cell: ({ event }) => event.replaceAll('_', ' ') },
								{ title: 'Status', cell: ({ status }) => <DeliveryState status={status} /> },
								{ title: 'Attempts', align: 'end', cell: ({ attempts }) => attempts },
								{ title: 'Response', align: 'end', cell: ({ response_status }) => response_status ?? 'none' },
								{ title: 'Error', cell: ({ error }) => (error === null ? '' : <KeyText text={error} />) },
							]}
						/>
						<Pager
							page={page.value}
							pageCount={page_count}
							totalCount={total_count}
							turnTo={(next) => {
								page.value = next;
							}}
						/>
					</>
				)
			}
		</LoadedFrame>
	);
}

function DeliveryState({ status }: { readonly status: 'pending' | 'delivered' | 'failed' }) {
	const kind = { pending: 'warn', delivered: 'good', failed: 'bad' }[status];
	return <span class={`badge ${kind}`}>{status}</span>;
}
