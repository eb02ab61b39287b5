import { useSignal } from '@preact/signals';
import type { ListedRequest, Paginated, RequestStatus } from '../model/api-types.js';
import { visibleLines } from '../model/visible-text.js';
import { requestSubject } from '../model/wording.js';
import { ActionButton } from '../part/action-button.js';
import { announce } from '../part/announce.js';
import { PagedListFrame, perPage, usePagedList } from '../part/paged-list.js';
import { Section } from '../part/section.js';
import { SelectField } from '../part/select-field.js';
import { bound } from '../part/setter.js';
import type { OpenedElement } from './opened-element.js';
import type { RequestKind } from './request-kind.js';
import { Time } from './time.js';

export const requestStates: readonly RequestStatus[] = ['pending', 'approved', 'denied', 'canceled'];

interface MyRequestsProps {
	readonly element: OpenedElement;
	readonly kind: RequestKind;
	/** Number of requests made on this page. The list reloads when this number changes. */
	readonly made: number;
}

/** The user's own requests, with their status. The user can cancel pending requests. */
export function MyRequests({ element, kind, made }: MyRequestsProps) {
	const { api, actor } = element;
	const collection = `${element.path()}/${kind.collection}`;
	const status = useSignal<RequestStatus | ''>('');
	const list = usePagedList(
		(page) =>
			api.get<Paginated<ListedRequest>>(collection, {
				requesting_user: actor.user_id,
				status: status.value || null,
				[kind.instanceFilter]: element.instance,
				page,
				per_page: perPage,
			}),
		[element, made, status.value],
	);
	const cancel = async ({ id }: ListedRequest) => {
		await api.send('PUT', `${collection}/${id}/cancel`, {});
		announce('Request canceled.');
		await list.reload();
	};
	return (
		<Section id="mine" title="My requests">
			<SelectField inline label="State" {...bound(status)} empty="All" options={requestStates} />
			<ul class="items">
				{list.found.value?.data.map((request) => (
					<li key={request.id}>
						<div class="line">
							<strong>{requestSubject(request)}</strong>
							<RequestState request={request} />
							{request.status === 'pending' && (
								<ActionButton act={() => cancel(request)} label={`Cancel the request for ${requestSubject(request)}`}>
									Cancel
								</ActionButton>
							)}
						</div>
						{request.reason && <p class="quiet">{visibleLines(request.reason)}</p>}
						{request.reviewer_comment && <p>Comment: {visibleLines(request.reviewer_comment)}</p>}
					</li>
				))}
			</ul>
			<PagedListFrame list={list} empty="No requests yet." />
		</Section>
	);
}

/** A request's state, with its creation, use and expiry times. */
export function RequestState({ request }: { readonly request: ListedRequest }) {
	const { status, created_at, consumed_at } = request;
	const { expires_at } = request.access_request_details;
	return (
		<>
			<span class={`state ${status}`}>{status}</span>
			<Time at={created_at} />
			{expires_at !== undefined && (
				<span class="quiet">
					until <Time at={expires_at} />
				</span>
			)}
			{consumed_at !== undefined && (
				<span class="quiet">
					used <Time at={consumed_at} />
				</span>
			)}
		</>
	);
}
