import type { components } from '#management-api';
import {
	causePhrases,
	countText,
	groupImpact,
	type ImpactCounts,
	type ImpactGroup,
} from '../../../model/draft/impact-groups.js';
import { Section } from '../../../part/section.js';
import { KeyText } from '../../part/key-text.js';
import { LazyDetails } from '../../part/lazy-details.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { PhraseText } from '../../part/phrase-text.js';
import type { Loaded } from '../../use-loaded.js';
import { ImpactRows } from './impact-rows.js';

export type Impact = components['schemas']['Impact'];
type Row = Impact['gains'][number];

/** Draft impact: the checks that change, then their counts. The value is `null` until the preview has succeeded. */
export function DraftImpact({ loaded }: { readonly loaded: Loaded<Impact | null> }) {
	return (
		<Section id="draft-impact" title="Access changes">
			<LoadedFrame loaded={loaded}>
				{(impact) =>
					impact === null || loaded.loading ? (
						<p class="quiet">Computing the impact…</p>
					) : (
						<ImpactText impact={impact} />
					)
				}
			</LoadedFrame>
		</Section>
	);
}

function ImpactText({ impact }: { readonly impact: Impact }) {
	const { counts, gains, loses, truncated, decisions, left_out } = impact;
	const groups = {
		lost: groupImpact(loses, counts.by_cause, 'lost'),
		gained: groupImpact(gains, counts.by_cause, 'gained'),
	};
	return (
		<>
			<p class="quiet">
				Checks with a different result under the draft, compared with revision {impact.base_revision}. A check is a
				user, an action, a resource and a tenant.
			</p>
			{left_out.length > 0 && (
				<ul class="draft-findings">
					{left_out.map(({ object, message }) => (
						<li key={object}>
							<span class="badge bad">skipped</span> <KeyText text={object} />: <KeyText text={message} />
						</li>
					))}
				</ul>
			)}
			{counts.lost + counts.gained === 0 && (
				<p>{truncated ? 'None of the compared checks has a different result.' : 'Nobody gains or loses access.'}</p>
			)}
			<Groups title="Lost access" groups={groups.lost} truncated={truncated} />
			<Groups title="Gained access" groups={groups.gained} truncated={truncated} />
			<Replay decisions={decisions} />
			<Summary counts={counts} truncated={truncated} />
		</>
	);
}

function Summary({ counts, truncated }: { readonly counts: ImpactCounts; readonly truncated: boolean }) {
	return (
		<div role="status">
			<h3>Summary</h3>
			<dl class="draft-counts">
				<Count title="checks lost" count={countText(counts.lost, truncated)} kind={counts.lost > 0 ? 'bad' : ''} />
				<Count
					title="checks gained"
					count={countText(counts.gained, truncated)}
					kind={counts.gained > 0 ? 'warn' : ''}
				/>
				<Count title="checks compared" count={countText(counts.asked, truncated)} kind="" />
			</dl>
			{truncated && <p class="quiet">Not all checks were compared, so the counts are lower bounds.</p>}
		</div>
	);
}

function Count({ title, count, kind }: { readonly title: string; readonly count: string; readonly kind: string }) {
	return (
		<div class={kind}>
			<dt>{title}</dt>
			<dd>{count}</dd>
		</div>
	);
}

interface GroupsProps {
	readonly title: string;
	readonly groups: readonly ImpactGroup<Row>[];
	readonly truncated: boolean;
}

/** Rows, grouped by cause. All groups except the first are collapsed. */
function Groups({ title, groups, truncated }: GroupsProps) {
	if (groups.length === 0) return null;
	return (
		<>
			<h3>{title}</h3>
			{groups.map((group, index) => (
				<Group
					key={JSON.stringify(group.cause)}
					title={title}
					group={group}
					truncated={truncated}
					isFirst={index === 0}
				/>
			))}
		</>
	);
}

interface GroupProps {
	readonly title: string;
	readonly group: ImpactGroup<Row>;
	readonly truncated: boolean;
	readonly isFirst: boolean;
}

function Group({ title, group: { cause, count, rows }, truncated, isFirst }: GroupProps) {
	const summary = (
		<>
			<strong>{countText(count, truncated)}</strong> through{' '}
			<PhraseText phrases={cause === null ? ['other causes'] : causePhrases(cause)} />
			{rows.length < count && <span class="quiet">, {rows.length} listed</span>}
		</>
	);
	return (
		<LazyDetails class="draft-objects" isFirst={isFirst} summary={summary}>
			{() => rows.length > 0 && <ImpactRows caption={title} rows={rows} />}
		</LazyDetails>
	);
}

/** The latest logged decisions, evaluated again with the draft. */
function Replay({ decisions }: { readonly decisions: Impact['decisions'] }) {
	const { replayed, skipped, gained, lost, rows, truncated } = decisions;
	return (
		<>
			<h3>Recent decisions replayed</h3>
			{replayed === 0 ? (
				<p class="quiet">No logged decision could be replayed{skipped > 0 && `: ${skipped} have no logged input`}.</p>
			) : (
				<p>
					Of the last {replayed.toLocaleString('en')} logged decisions, {lost} would now be denied and {gained} would
					now be allowed.
					{skipped > 0 && ` ${skipped} could not be replayed because their input was not logged.`}
					{truncated && ' The time limit was reached before all decisions were replayed.'}
				</p>
			)}
			{rows.length > 0 && <ImpactRows caption="Decisions with a different result" rows={rows} />}
		</>
	);
}
