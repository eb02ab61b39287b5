import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { requesterName } from '../../../model/wording.js';
import { announce } from '../../../part/announce.js';
import { listenForReviewKeys, type ReviewMove } from '../../../part/listen-for-review-keys.js';
import { mayWrite } from '../../session.js';
import type { ListedRequest } from './listed-request.js';
import { RequestItem } from './request-item.js';

interface RequestListProps {
	readonly requests: readonly ListedRequest[];
	/** Request whose form is open, and the chosen review action. */
	readonly opened: { readonly id: string; readonly move: ReviewMove } | null;
	readonly open: (next: { readonly id: string; readonly move: ReviewMove } | null) => void;
	readonly reload: () => void;
}

/** Request list in which requests can be reviewed by keyboard. */
export function RequestList({ requests, opened, open, reload }: RequestListProps) {
	const items = useRef<HTMLUListElement>(null);
	const choose = useRef(open);
	choose.current = open;
	const decidable = new Set(mayWrite.value ? requests.filter(isPending).map(({ id }) => id) : []);
	const decided = useRef(decidable);
	decided.current = decidable;
	useEffect(
		() =>
			listenForReviewKeys(items.current, (id, move) => {
				if (move === null) choose.current(null);
				else if (decided.current.has(id)) choose.current({ id, move });
			}),
		[],
	);
	// After the reload, the reviewed request has disappeared. Focus then moves to the next request.
	const place = useRef<number | null>(null);
	useLayoutEffect(() => {
		if (place.current === null) return;
		const list = items.current?.children;
		const next = list?.[Math.min(place.current, list.length - 1)];
		(next?.querySelector('button') ?? document.querySelector('h1'))?.focus();
		place.current = null;
	}, [requests]);
	const done = (request: ListedRequest, move: ReviewMove) => {
		place.current = requests.indexOf(request);
		open(null);
		announce(`${move === 'approve' ? 'Approved' : 'Denied'} the request from ${requesterName(request)}.`);
		reload();
	};
	return (
		<>
			{decidable.size > 0 && (
				<p class="quiet">
					Keyboard shortcuts: <kbd>j</kbd>/<kbd>k</kbd> to move, <kbd>a</kbd> to approve, <kbd>d</kbd> to deny,{' '}
					<kbd>Esc</kbd> to cancel
				</p>
			)}
			<ul class="requests-list" ref={items} aria-label="Requests">
				{requests.map((request) => (
					<RequestItem
						key={request.id}
						request={request}
						move={opened?.id === request.id && decidable.has(request.id) ? opened.move : null}
						choose={decidable.has(request.id) ? (move) => open(move && { id: request.id, move }) : null}
						onDone={(move) => done(request, move)}
					/>
				))}
			</ul>
		</>
	);
}

function isPending({ status }: ListedRequest): boolean {
	return status === 'pending';
}
