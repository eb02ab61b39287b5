import { useSignal } from '@preact/signals';
import { ActionButton, Failure, SubmitButton, useWork } from '../../../part/action-button.js';
import { announce } from '../../../part/announce.js';
import { Button } from '../../../part/button.js';
import { bound, setter } from '../../../part/setter.js';
import { TextField } from '../../../part/text-field.js';
import { management } from '../../api.js';
import { confirmWrite } from '../../part/confirm.js';
import { KeyText } from '../../part/key-text.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { DataTable } from '../../part/table/data-table.js';
import { Pager } from '../../part/table/pager.js';
import { TimeText } from '../../part/time-text.js';
import { mayWrite } from '../../session.js';
import { useLoaded } from '../../use-loaded.js';
import { usePolling } from '../../use-polling.js';

const perPage = 10;
/** Refresh interval for deliveries while the page is visible, in milliseconds. */
const pollMilliseconds = 3000;

interface ElementWebhookProps {
	readonly elementKey: string;
	/** Webhook URL; `null` if there is no webhook. */
	readonly url: string | null;
	readonly onSaved: () => void;
}

/** Element webhook: its URL, a test button and the deliveries. */
export function ElementWebhook({ elementKey, url, onSaved }: ElementWebhookProps) {
	if (!mayWrite.value) {
		return (
			<>
				<h2>Webhook</h2>
				<p class="quiet">
					{url === null ? 'No webhook is configured.' : <KeyText text={url} />} Deliveries contain email addresses. A
					key with write access is required to see them.
				</p>
			</>
		);
	}
	const sendTest = async () => {
		if (!(await confirmWrite('Send test event', `Send a test event to ${url}?`))) return;
		await management.post('/v2/elements/{proj_id}/{env_id}/config/{elements_config_id}/webhook_test', {
			path: { elements_config_id: elementKey },
		});
		announce('Test event sent. See the delivery below.');
	};
	return (
		<>
			<h2>Webhook</h2>
			<WebhookForm key={url} elementKey={elementKey} url={url} onSaved={onSaved} />
			{url !== null && (
				<>
					<p>
						<ActionButton act={sendTest}>Send test event</ActionButton>
					</p>
					<Deliveries elementKey={elementKey} />
				</>
			)}
		</>
	);
}

/** Form for the webhook's URL and token. The API never shows the token. */
function WebhookForm({ elementKey, url, onSaved }: ElementWebhookProps) {
	const address = useSignal(url ?? '');
	const token = useSignal('');
	const work = useWork();
	const save = async (webhook: { readonly url: string; readonly bearer_token?: string } | null) => {
		const title = webhook === null ? 'Remove webhook' : 'Save webhook';
		if (
			!(await confirmWrite(
				title,
				`${webhook === null ? 'Remove' : 'Save'} the webhook of ${elementKey}? The change takes effect immediately.`,
			))
		)
			return;
		await management.patch('/v2/elements/{proj_id}/{env_id}/config/{elements_config_id}', {
			path: { elements_config_id: elementKey },
			body: { webhook: webhook === null ? null : { ...webhook, type: 'elements' } },
		});
		token.value = '';
		announce(webhook === null ? 'Webhook removed.' : 'Webhook saved.');
		onSaved();
	};
	return (
		<form
			onSubmit={(event) => {
				event.preventDefault();
				const given = token.value === '' ? {} : { bearer_token: token.value };
				void work.run(() => save({ url: address.value, ...given }));
			}}
		>
			<div class="elements-columns">
				<TextField
					label="URL"
					type="url"
					required
					{...bound(address)}
					placeholder="https://app.example.com/hooks/elements"
				/>
				<div>
					<TextField
						label="Bearer token (optional)"
						type="password"
						aria-describedby="webhook-token"
						autocomplete="off"
						{...bound(token)}
					/>
					<small id="webhook-token" class="quiet">
						Saving replaces the stored token; an empty field removes it.
					</small>
				</div>
			</div>
			<div class="line">
				<SubmitButton work={work} secondary>
					Save webhook
				</SubmitButton>
				{url !== null && (
					<Button aria-disabled={work.busy} onClick={() => void work.run(() => save(null))}>
						Remove webhook
					</Button>
				)}
			</div>
			<Failure text={work.failure} />
		</form>
	);
}

function Deliveries({ elementKey }: { readonly elementKey: string }) {
	const page = useSignal(1);
	const loaded = useLoaded(
		(signal) => {
			const query = { page: page.value, per_page: perPage };
			return management.get('/v2/elements/{proj_id}/{env_id}/config/{elements_config_id}/webhook_deliveries', {
				path: { elements_config_id: elementKey },
				query,
				signal,
			});
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
						<Pager page={page.value} list={{ page_count, total_count }} turnTo={setter(page)} />
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
