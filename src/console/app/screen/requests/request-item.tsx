import { useSignal } from '@preact/signals';
import { directoryPath } from '../../../model/directory-path.js';
import { askedInstance } from '../../../model/held-role.js';
import { requesterName, requestSubject } from '../../../model/wording.js';
import { Button } from '../../../part/button.js';
import type { ReviewMove } from '../../../part/listen-for-review-keys.js';
import { KeyLink } from '../../part/key-link.js';
import { KeyText } from '../../part/key-text.js';
import { NameText } from '../../part/name-text.js';
import { TimeText } from '../../part/time-text.js';
import { screenPath } from '../../screen-path.js';
import { DecisionForm } from './decision-form.js';
import type { ListedRequest } from './listed-request.js';
import { RequestMeaning } from './request-meaning.js';

interface RequestItemProps {
	readonly request: ListedRequest;
	/** Review action whose form is open; `null` while no form is open. */
	readonly move: ReviewMove | null;
	/** Opens or closes the form. `null` if the request is not pending, or if the key may not review it. */
	readonly choose: ((move: ReviewMove | null) => void) | null;
	readonly onDone: (move: ReviewMove) => void;
}

const labels = { approve: 'Approve', deny: 'Deny' } as const;
const marks = { pending: 'warn', approved: 'good', denied: 'bad', canceled: '' } as const;

/** A request, with its meaning and the form for its review. */
export function RequestItem({ request, move, choose, onDone }: RequestItemProps) {
	const isExplained = useSignal(false);
	const { id, created_at, status, reason, tenant_key, element_key, element_name, access_request_details } = request;
	const name = requesterName(request);
	const subject = requestSubject(request);
	return (
		<li data-request={id}>
			<div class="line">
				<span class={`badge ${marks[status]}`}>{status}</span>
				<span>
					<a href={screenPath(directoryPath('users', request.requesting_user_key))}>
						<NameText text={name} />
					</a>{' '}
					requests <Subject request={request} /> in <KeyText text={tenant_key} />
				</span>
				<TimeText at={created_at} />
				{access_request_details.expires_at !== undefined && (
					<span class="quiet">
						until <TimeText at={access_request_details.expires_at} />
					</span>
				)}
				{element_key !== null && (
					<span class="quiet">
						through <NameText text={element_name ?? element_key} />
					</span>
				)}
			</div>
			{reason !== null && reason !== '' && <p class="requests-reason">{reason}</p>}
			<Review request={request} />
			{choose !== null && move === null && (
				<div class="line">
					{(['approve', 'deny'] as const).map((one) => (
						<Button
							key={one}
							aria-label={`${labels[one]} the request from ${name} for ${subject}`}
							onClick={() => choose(one)}
						>
							{labels[one]}…
						</Button>
					))}
				</div>
			)}
			{move === null && status === 'pending' && (
				<details
					onToggle={(event) => {
						isExplained.value = event.currentTarget.open;
					}}
				>
					<summary>Current access and effect of approval</summary>
					{isExplained.value && <RequestMeaning request={request} otherRole={null} />}
				</details>
			)}
			{move !== null && choose !== null && (
				<DecisionForm
					key={move}
					request={request}
					move={move}
					onDone={() => onDone(move)}
					onBack={() => choose(null)}
				/>
			)}
		</li>
	);
}

function Subject({ request }: { readonly request: ListedRequest }) {
	const instance = askedInstance(request);
	const place = instance ?? request.resource_key;
	return (
		<>
			{request.type === 'access_request' ? (
				<>
					role <KeyText text={request.role_key} />
				</>
			) : (
				'an operation'
			)}
			{place !== null && (
				<>
					{' '}
					on{' '}
					{instance === null ? (
						<KeyText text={place} />
					) : (
						<KeyLink href={screenPath(directoryPath('instances', instance))} text={instance} />
					)}
				</>
			)}
		</>
	);
}

/** The review of a request: its result, time, reviewer and comment. A pending request may have only a comment. */
function Review({ request }: { readonly request: ListedRequest }) {
	const { status, reviewed_at, reviewer_user_id, reviewer_comment } = request;
	if (status === 'pending') return reviewer_comment ? <p>Comment: {reviewer_comment}</p> : null;
	return (
		<p class="quiet">
			{reviewed_at !== null && (
				<>
					{status} <TimeText at={reviewed_at} />{' '}
					{reviewer_user_id === null ? (
						'with an API key'
					) : (
						<>
							by <a href={screenPath(directoryPath('users', reviewer_user_id))}>a reviewer</a>
						</>
					)}
				</>
			)}
			{reviewer_comment && `: ${reviewer_comment}`}
			{request.type === 'operation_approval' && request.consumed_at !== undefined && (
				<>
					, used <TimeText at={request.consumed_at} />
				</>
			)}
		</p>
	);
}
