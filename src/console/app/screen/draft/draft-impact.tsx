import type { components } from '#management-api';
import type { Draft } from '../../../model/draft/draft.js';
import { causePhrases, countText, groupImpact, type ImpactGroup } from '../../../model/draft/impact-groups.js';
import { answeredOnce, management } from '../../api.js';
import { KeyText } from '../../part/key-text.js';
import { LazyDetails } from '../../part/lazy-details.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { PhraseText } from '../../part/phrase-text.js';
import { environmentPath } from '../../session.js';
import { useLoaded } from '../../use-loaded.js';
import { ImpactRows } from './impact-rows.js';

type Impact = components['schemas']['Impact'];
type Row = Impact['gains'][number];

/** Draft impact: the users who gain or lose access. Loaded after the preview. */
export function DraftImpact({ draft, isTried }: { readonly draft: Draft; readonly isTried: boolean }) {
	return (
		<section aria-labelledby="draft-impact">
			<h2 id="draft-impact">Access changes</h2>
			{isTried ? <AskedImpact draft={draft} /> : <p class="quiet">Computing the impact…</p>}
		</section>
	);
}

function AskedImpact({ draft }: { readonly draft: Draft }) {
	const asked = useLoaded(
		(signal) =>
			answeredOnce(
				management.POST('/v2/projects/{proj_id}/envs/{env_id}/impact', {
					params: { path: environmentPath() },
					body: { draft } as never,
					signal,
				}),
			),
		[JSON.stringify(draft)],
		{ accompanies: true },
	);
	return (
		<LoadedFrame loaded={asked}>
			{(impact) => (asked.loading ? <p class="quiet">Updating…</p> : <ImpactText impact={impact} />)}
		</LoadedFrame>
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
			<div role="status">
				<dl class="draft-counts">
					<Count title="checks lost" count={countText(counts.lost, truncated)} kind={counts.lost > 0 ? 'bad' : ''} />
					<Count
						title="checks gained"
						count={countText(counts.gained, truncated)}
						kind={counts.gained > 0 ? 'warn' : ''}
					/>
					<Count title="checks compared" count={countText(counts.asked, truncated)} kind="" />
				</dl>
			</div>
			<p class="quiet">
				Checks with a different result under the draft, compared with revision {impact.base_revision}. A check is a
				user, an action, a resource and a tenant.
				{truncated && ' Not all checks were compared, so the counts are lower bounds.'}
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
				<p>{truncated ? 'No compared check has a different result.' : 'Nobody gains or loses access.'}</p>
			)}
			<Groups title="Lost access" groups={groups.lost} truncated={truncated} />
			<Groups title="Gained access" groups={groups.gained} truncated={truncated} />
			<Replay decisions={decisions} />
		</>
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
					{truncated && ' The time limit was reached before all were replayed.'}
				</p>
			)}
			{rows.length > 0 && <ImpactRows caption="Decisions with a different result" rows={rows} />}
		</>
	);
}
