import type { ReviewMove } from '../../../part/listen-for-review-keys.js';
import { SelectField } from '../../../part/select-field.js';
import { management } from '../../api.js';
import { Empty } from '../../part/empty.js';
import { Combobox } from '../../part/field/combobox.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { Screen } from '../../part/screen.js';
import { Pager } from '../../part/table/pager.js';
import { proposeTenants, proposeUsers } from '../../propose.js';
import { screenPath } from '../../screen-path.js';
import { useLoaded } from '../../use-loaded.js';
import { usePolling } from '../../use-polling.js';
import { type Search, useSearch } from '../../use-search.js';
import { RequestList } from './request-list.js';

const perPage = 20;
/** Interval between checks for new requests, in milliseconds. */
const pollMilliseconds = 15_000;

const states = ['pending', 'approved', 'denied', 'canceled'] as const;
const types = { access_request: 'roles', operation_approval: 'operations' } as const;

/** The requests screen: lists requests from all elements. */
export function RequestsScreen() {
	const search = useSearch();
	const page = Number(search.get('page')) || 1;
	const query = requestQuery(search);
	const opened = openedRequest(search);
	const loaded = useLoaded(
		(signal) =>
			management.get('/v2/facts/{proj_id}/{env_id}/element_requests', {
				query: { ...query, page, per_page: perPage },
				signal,
			}),
		[page, JSON.stringify(query)],
	);
	// Do not move the list while a form is open.
	usePolling(() => opened === null && loaded.reload(), pollMilliseconds, loaded.loading);
	return (
		<Screen
			title="Requests"
			about="Access requests and operation approvals from elements. Reviews here use your API key, which is recorded as the reviewer."
		>
			<RequestFilters search={search} />
			<LoadedFrame loaded={loaded}>
				{({ data, page_count, total_count }) => (
					<>
						<RequestList
							requests={data}
							opened={opened}
							open={(next) => search.set({ request: next?.id ?? '', move: next?.move ?? '' }, { replace: true })}
							reload={loaded.reload}
						/>
						{total_count === 0 && <NothingFound search={search} />}
						<Pager
							page={page}
							list={{ page_count, total_count }}
							turnTo={(next) => search.set({ page: String(next), request: '', move: '' })}
						/>
					</>
				)}
			</LoadedFrame>
		</Screen>
	);
}

function RequestFilters({ search }: { readonly search: Search }) {
	const first = { page: '', request: '', move: '' };
	const filter = (name: string) => search.filter(name, first);
	return (
		<search class="requests-filters" aria-label="Filter requests">
			<form class="columns" onSubmit={(event) => event.preventDefault()}>
				<SelectField
					label="State"
					value={search.get('state') || 'pending'}
					options={[...states, ['any', 'All, pending first']]}
					onValue={(value) => search.set({ ...first, state: value === 'pending' ? '' : value })}
				/>
				<SelectField label="Type" empty="All" options={types} {...filter('type')} />
				<Combobox label="Tenant" placeholder="All" {...filter('tenant')} propose={proposeTenants} />
				<Combobox label="Requester" placeholder="All" {...filter('user')} propose={proposeUsers} />
			</form>
		</search>
	);
}

function NothingFound({ search }: { readonly search: Search }) {
	const isNarrowed = ['type', 'tenant', 'user', 'element'].some((name) => search.get(name) !== '');
	const state = search.get('state') || 'pending';
	if (isNarrowed || state !== 'pending') {
		return (
			<Empty title="No matching requests">
				<p>
					<a href={screenPath('requests')}>View pending requests</a>
				</p>
			</Empty>
		);
	}
	return (
		<Empty title="No pending requests" docs={{ page: 'develop/elements', title: 'Elements' }}>
			<p>
				Users send requests in <a href={screenPath('elements')}>elements</a> embedded in your application.{' '}
				<a href={screenPath('requests', { state: 'any' })}>View reviewed requests</a>
			</p>
		</Empty>
	);
}

/** Returns the query for the address. Ignores invalid filter values. */
function requestQuery(search: Search) {
	const state = search.get('state') || 'pending';
	const status = states.find((one) => one === state);
	const type = (['access_request', 'operation_approval'] as const).find((one) => one === search.get('type'));
	const [tenant, requesting_user, element] = ['tenant', 'user', 'element'].map(search.get);
	return {
		...(status && { status }),
		...(type && { type }),
		...(tenant && { tenant }),
		...(requesting_user && { requesting_user }),
		...(element && { element }),
	};
}

/** Returns the request whose form is open, and the chosen review action; `null` if no form is open. */
function openedRequest(search: Search): { readonly id: string; readonly move: ReviewMove } | null {
	const [id = '', move] = ['request', 'move'].map(search.get);
	return id !== '' && (move === 'approve' || move === 'deny') ? { id, move } : null;
}
