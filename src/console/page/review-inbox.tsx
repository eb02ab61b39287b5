import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { ElementConfig, ListedRequest, Paginated, RequestStatus } from '../model/api-types.js';
import type { RolesAt } from '../model/element/levels.js';
import { type ExpiryText, expiryMember } from '../model/instants.js';
import { visibleLines, visibleText } from '../model/visible-text.js';
import { requesterName, requestSubject } from '../model/wording.js';
import { Failure, SubmitButton, useWork } from '../part/action-button.js';
import { announce } from '../part/announce.js';
import { Button } from '../part/button.js';
import { ExpiryField, longestApproval } from '../part/expiry-field.js';
import { listenForReviewKeys, type ReviewMove } from '../part/listen-for-review-keys.js';
import { LongText } from '../part/long-text.js';
import { PagedListFrame, perPage, usePagedList } from '../part/paged-list.js';
import { SelectField } from '../part/select-field.js';
import { bound, storing } from '../part/setter.js';
import { RequestState, requestStates } from './my-requests.js';
import type { OpenedElement } from './opened-element.js';
import type { RequestKind } from './request-kind.js';

interface ReviewInboxProps {
	readonly element: OpenedElement;
	/** Element that contains the requests. */
	readonly config: ElementConfig;
	readonly kind: RequestKind;
	readonly roles: RolesAt;
	/** True if a message should be shown when there is nothing to review. */
	readonly alwaysShown?: boolean;
}

/**
 * Requests for a reviewer, who may approve each pending request (also with a different role) or deny it. Also works by
 * keyboard. Shows decided requests on demand.
 */
export function ReviewInbox({ element, config, kind, roles, alwaysShown = false }: ReviewInboxProps) {
	const { api, actor } = element;
	const collection = `${element.path(config.key)}/${kind.collection}`;
	const status = useSignal<RequestStatus>('pending');
	const list = usePagedList(
		(page) =>
			api.get<Paginated<ListedRequest>>(collection, {
				status: status.value,
				[kind.instanceFilter]: element.instance,
				page,
				per_page: perPage,
			}),
		[element, collection, status.value],
	);
	const open = useSignal<{ readonly id: string; readonly move: ReviewMove } | null>(null);
	const heading = useRef<HTMLHeadingElement>(null);
	const items = useRef<HTMLUListElement>(null);
	// Users who are not reviewers receive only their own requests, so they can review nothing while self-approval is off.
	const ownToo = config.settings['allow_self_approval'] === true;
	const isReviewable = ({ requesting_user_id }: ListedRequest) => ownToo || requesting_user_id !== actor.user_id;
	const requests = (list.found.value?.data ?? []).filter(isReviewable);
	const isReviewer = useSignal(alwaysShown);
	useEffect(() => {
		if (alwaysShown) return;
		const query = { [kind.instanceFilter]: element.instance, page: 1, per_page: 100 };
		api.get<Paginated<ListedRequest>>(collection, query).then(
			({ data }) => {
				isReviewer.value = data.some(isReviewable);
			},
			// The list below reports the failure.
			() => {},
		);
	}, [element, collection]);
	useEffect(
		() => listenForReviewKeys(items.current, (id, move) => (open.value = move && { id, move })),
		[requests.length > 0],
	);
	if (requests.length === 0 && !isReviewer.value) return null;
	const isPending = status.value === 'pending';
	const done = async (request: ListedRequest, said: string) => {
		const place = requests.indexOf(request);
		open.value = null;
		announce(`Request from ${requesterName(request)} ${said}.`);
		await list.reload();
		const next = items.current?.children[Math.min(place, (items.current?.children.length ?? 0) - 1)];
		(next?.querySelector('button') ?? heading.current)?.focus();
	};
	return (
		<section aria-labelledby={`review-${kind.collection}`}>
			<h2 id={`review-${kind.collection}`} tabIndex={-1} ref={heading}>
				{kind.hasRole ? 'Access requests to review' : 'Approvals to review'}
			</h2>
			<SelectField inline label="Show" {...bound(status)} options={requestStates} />
			{requests.length > 0 && isPending && (
				<p class="quiet">
					Keyboard shortcuts: <kbd>j</kbd>/<kbd>k</kbd> to move, <kbd>a</kbd> to approve, <kbd>d</kbd> to deny,{' '}
					<kbd>Esc</kbd> to cancel
				</p>
			)}
			<ul class="items" ref={items}>
				{requests.map((request) => (
					<li key={request.id} data-request={request.status === 'pending' ? request.id : undefined}>
						<div class="line">
							<span>
								<strong>{requesterName(request)}</strong> requests <strong>{requestSubject(request)}</strong>
							</span>
							<RequestState request={request} />
						</div>
						{request.reason && <p class="quiet">{visibleLines(request.reason)}</p>}
						{request.reviewer_comment && <p>Comment: {visibleLines(request.reviewer_comment)}</p>}
						{request.status !== 'pending' ? null : open.value?.id === request.id ? (
							<Decision
								key={open.value.move}
								request={request}
								move={open.value.move}
								longest={longestApproval(config)}
								roles={kind.hasRole ? roles(placeOf(request)) : []}
								decide={(body) => api.send('PUT', `${collection}/${request.id}/${open.value?.move}`, body)}
								onDone={() => done(request, open.value?.move === 'deny' ? 'denied' : 'approved')}
								onBack={storing(open, null)}
							/>
						) : (
							<div class="line">
								{(['approve', 'deny'] as const).map((move) => (
									<Button
										key={move}
										aria-label={`${labels[move]} the request from ${requesterName(request)} for ${requestSubject(request)}`}
										onClick={storing(open, { id: request.id, move })}
									>
										{labels[move]}…
									</Button>
								))}
							</div>
						)}
					</li>
				))}
			</ul>
			<PagedListFrame list={list} empty={isPending ? 'No requests to review.' : 'No requests.'} />
		</section>
	);
}

const labels: Readonly<Record<ReviewMove, string>> = { approve: 'Approve', deny: 'Deny' };

function placeOf({ access_request_details: { resource, resource_instance } }: ListedRequest) {
	return { onInstance: resource_instance !== null, resourceId: resource };
}

interface DecisionProps {
	readonly request: ListedRequest;
	readonly move: ReviewMove;
	/** Maximum approval duration, in words. */
	readonly longest: string | null;
	readonly roles: readonly { readonly id: string; readonly name: string }[];
	readonly decide: (body: object) => Promise<unknown>;
	readonly onDone: () => Promise<void>;
	readonly onBack: () => void;
}

/** Form for a review: a comment and, for an approval, the role and its expiry. */
function Decision({ request, move, longest, roles, decide, onDone, onBack }: DecisionProps) {
	const asked = request.access_request_details.role ?? '';
	const role = useSignal(asked);
	const end = useSignal<ExpiryText>('');
	const comment = useSignal('');
	const work = useWork();
	const form = useRef<HTMLFormElement>(null);
	// Take focus before the next key press. Without this, nothing has focus after the form opens by keyboard.
	useLayoutEffect(() => form.current?.querySelector<HTMLElement>('select, textarea')?.focus(), []);
	const send = async () => {
		await decide({
			...(comment.value.trim() !== '' && { reviewer_comment: comment.value.trim() }),
			...(move === 'approve' && role.value !== asked && { role: role.value }),
			...expiryMember(end.value),
		});
		await onDone();
	};
	const known = roles.some(({ id }) => id === asked);
	const shownRoles = known ? roles : [{ id: asked, name: request.role_name ?? asked }, ...roles];
	return (
		<form
			ref={form}
			aria-label={`${labels[move]} the request from ${requesterName(request)}`}
			onSubmit={work.submit(send)}
		>
			{move === 'approve' && asked !== '' && (
				<SelectField
					label="Role"
					{...bound(role)}
					options={shownRoles.map(({ id, name }) => [id, visibleText(name)])}
				/>
			)}
			{move === 'approve' && (
				<ExpiryField end={end} hint={longest} latest={request.access_request_details.expires_at} />
			)}
			<LongText label="Comment (optional)" text={comment} />
			<div class="line">
				<SubmitButton work={work}>{labels[move]}</SubmitButton>
				<Button onClick={onBack}>Cancel</Button>
			</div>
			<Failure text={work.failure} />
		</form>
	);
}
