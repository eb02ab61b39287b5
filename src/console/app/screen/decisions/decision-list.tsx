import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { checkQuery } from '../../../model/check/check-form.js';
import { auditLogParameters, type DecisionFilter } from '../../../model/check/decision-filter.js';
import { decisionForm, type LoggedDecision, newRows, readDecisionNote } from '../../../model/check/logged-decision.js';
import { visibleText } from '../../../model/visible-text.js';
import { Button } from '../../../part/button.js';
import { storing } from '../../../part/setter.js';
import { management } from '../../api.js';
import { Empty } from '../../part/empty.js';
import { KeyText } from '../../part/key-text.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { DataTable } from '../../part/table/data-table.js';
import { Pager } from '../../part/table/pager.js';
import { TimeText } from '../../part/time-text.js';
import { screenPath } from '../../screen-path.js';
import { useLoaded } from '../../use-loaded.js';
import { usePolling } from '../../use-polling.js';

const perPage = 50;

/** Interval between checks for new decisions while the page is visible, in milliseconds. */
const pollMilliseconds = 5000;

interface DecisionListProps {
	readonly filter: DecisionFilter;
	readonly isNarrowed: boolean;
	readonly page: number;
	readonly turnTo: (page: number) => void;
}

/** A page of decisions. A notice above the list shows the number of new decisions and loads them on click. */
export function DecisionList({ filter, isNarrowed, page, turnTo }: DecisionListProps) {
	const loaded = useLoaded((signal) => readDecisions(filter, page, signal), [page]);
	return (
		<LoadedFrame loaded={loaded}>
			{({ data, page_count, pagination_count }) => (
				<>
					<NewDecisions filter={filter} shown={page === 1 ? data : null} onShow={loaded.reload} turnTo={turnTo} />
					{data.length === 0 ? (
						<NoDecisions isNarrowed={isNarrowed} />
					) : (
						<DataTable caption="Decisions" rows={data} rowKey={({ id }) => id} columns={columns} />
					)}
					<Pager page={page} list={{ page_count, total_count: pagination_count }} turnTo={turnTo} />
					{pagination_count >= maxListed && (
						<p class="quiet">
							Only the newest {maxListed.toLocaleString('en')} decisions are listed. Filter by time to see older
							decisions.
						</p>
					)}
				</>
			)}
		</LoadedFrame>
	);
}

/** Maximum number of decisions that the API returns through paging. */
const maxListed = 10_000;

function readDecisions(filter: DecisionFilter, page: number, signal?: AbortSignal) {
	const query = { ...auditLogParameters(filter), page, per_page: perPage };
	return management.get('/v2/pdps/{proj_id}/{env_id}/audit_logs', { query, ...(signal !== undefined && { signal }) });
}

interface NewDecisionsProps {
	readonly filter: DecisionFilter;
	/** Decisions on the first page; `null` while a different page is shown. */
	readonly shown: readonly LoggedDecision[] | null;
	readonly onShow: () => void;
	readonly turnTo: (page: number) => void;
}

/** Number of decisions newer than the list. This line is always rendered, so the layout does not move. */
function NewDecisions({ filter, shown, onShow, turnTo }: NewDecisionsProps) {
	const fresh = useSignal<readonly LoggedDecision[]>([]);
	useEffect(storing(fresh, []), [shown]);
	const isBusy = useSignal(false);
	const look = async () => {
		isBusy.value = true;
		try {
			fresh.value = (await readDecisions(filter, 1)).data;
		} catch {
			// The status bar reports an unreachable API.
		} finally {
			isBusy.value = false;
		}
	};
	usePolling(() => shown !== null && void look(), pollMilliseconds, isBusy.value);
	if (shown === null) {
		return (
			<p class="decisions-new">
				<Button class="link" onClick={() => turnTo(1)}>
					Newest decisions
				</Button>
			</p>
		);
	}
	const count = newRows(fresh.value, shown).length;
	return (
		<p class="decisions-new" role="status">
			{count === 0 ? (
				<span class="quiet">Refreshes every five seconds.</span>
			) : (
				<>
					{count === perPage ? `${count} or more` : count} new <Button onClick={onShow}>Show</Button>
				</>
			)}
		</p>
	);
}

function NoDecisions({ isNarrowed }: { readonly isNarrowed: boolean }) {
	if (isNarrowed) {
		return (
			<Empty title="No matching decisions">
				<p>Change the filters. Decisions appear here after a few seconds.</p>
			</Empty>
		);
	}
	return (
		<Empty title="No decisions yet" docs={{ page: 'operate/decision-log', title: 'Decision log' }}>
			<p>
				Run a check, for example under <a href={screenPath('check')}>Check and why</a>. Decision points send decisions
				to this server, unless <code>PDP_DECISION_LOG</code> specifies a different receiver.
			</p>
		</Empty>
	);
}

const columns = [
	{ title: 'Time', cell: ({ timestamp }: LoggedDecision) => <TimeText at={timestamp} /> },
	{ title: 'Decision', cell: (row: LoggedDecision) => <Decision row={row} /> },
	{ title: 'User', cell: ({ user_key }: LoggedDecision) => <Name text={user_key} /> },
	{ title: 'Action', cell: ({ action }: LoggedDecision) => <Name text={action} /> },
	{ title: 'Resource', cell: (row: LoggedDecision) => <ResourceName row={row} /> },
	{ title: 'Tenant', cell: ({ tenant }: LoggedDecision) => <Name text={tenant} /> },
	{ title: 'Revision', align: 'end', cell: (row: LoggedDecision) => <Name text={readDecisionNote(row).revision} /> },
	{ title: 'Reasons', align: 'end', cell: (row: LoggedDecision) => <WhyLink row={row} /> },
] as const;

function Decision({ row: { decision, reason } }: { readonly row: LoggedDecision }) {
	if (decision === null) return <>unknown</>;
	return decision ? (
		<span class="badge good">allowed</span>
	) : (
		<>
			<span class="badge bad">denied</span>{' '}
			{reason !== null && <code class="decisions-code">{visibleText(reason)}</code>}
		</>
	);
}

function Name({ text }: { readonly text: string | null }) {
	return text === null ? <span class="quiet">none</span> : <KeyText text={text} />;
}

function ResourceName({ row }: { readonly row: LoggedDecision }) {
	const { instance, truncated, erased } = readDecisionNote(row);
	const { resource_type: type } = row;
	return (
		<>
			<Name text={instance === null ? type : `${type ?? ''}:${instance}`} />
			{truncated && <small class="quiet"> attributes and context were too long to log</small>}
			{erased.length > 0 && <small class="quiet"> masked: {visibleText(erased.join(', '))}</small>}
		</>
	);
}

function WhyLink({ row }: { readonly row: LoggedDecision }) {
	const form = decisionForm(row);
	// A request to a URL without a matching mapping rule contains no check.
	if (row.reason === 'no_matching_mapping_rule') return <span class="quiet">not a check</span>;
	return (
		<a
			href={screenPath('check', checkQuery(form))}
			aria-label={visibleText(`Why: ${form.user}, ${form.action}, ${form.resource}`)}
		>
			Why
		</a>
	);
}
