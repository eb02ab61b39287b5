import { explainCode } from '../../../../model/check/denial-codes.js';
import { type Phrase, reasonPhrases } from '../../../../model/phrase.js';
import { visibleText } from '../../../../model/visible-text.js';
import { PhraseText } from '../../../part/phrase-text.js';
import { FoldedRows } from '../../../part/table/folded-rows.js';
import { TimeText } from '../../../part/time-text.js';
import { screenPath } from '../../../screen-path.js';
import type { FilterAnswer, FilterBranch, FilterSource } from './ask-filter.js';
import { ConditionTree } from './condition-tree.js';
import { FilterSql } from './filter-sql.js';

/** A filter as a tree and as SQL, with its grants. */
export function FilterResult({ answer }: { readonly answer: FilterAnswer }) {
	const { rows, revision, validUntil, query, branches } = answer;
	return (
		<>
			<section class={`check-answer ${rows === false ? 'denied' : 'allowed'}`} aria-label="Result" role="status">
				<Verdict answer={answer} />
				<p class="quiet">
					Filter from the decision point at revision {revision}.{' '}
					{validUntil !== null && <Validity until={validUntil} />}
				</p>
			</section>
			{typeof rows === 'object' && (
				<>
					<h2>Condition</h2>
					<ConditionTree condition={rows} />
					<FilterSql condition={rows} resource={query.resource.type} />
				</>
			)}
			{branches.length > 0 && (
				<>
					<h2>Instances by grant</h2>
					<FoldedRows rows={branches}>
						{(shown) => (
							<ul class="filter-branches">
								{shown.map((branch) => (
									<Branch key={JSON.stringify([branch.reason, branch.sources, branch.rule])} branch={branch} />
								))}
							</ul>
						)}
					</FoldedRows>
				</>
			)}
		</>
	);
}

/** Expiry of the filter. A filter that depends on the current time has already expired. */
function Validity({ until }: { readonly until: string }) {
	if (Date.parse(until) <= Date.now()) return <>The filter depends on the current time, so do not reuse it.</>;
	return (
		<>
			Valid until <TimeText at={until} />.
		</>
	);
}

function Verdict({ answer: { rows, code, query } }: { readonly answer: FilterAnswer }) {
	const type = <code class="name">{visibleText(query.resource.type)}</code>;
	if (rows === true) {
		return (
			<p class="check-verdict">
				<strong class="state good">All instances</strong> of {type}.
			</p>
		);
	}
	if (rows !== false) {
		return (
			<p class="check-verdict">
				<strong class="state good">Instances that match</strong> the condition below.
			</p>
		);
	}
	const explained = code === undefined ? null : explainCode(code);
	return (
		<>
			<p class="check-verdict">
				<strong class="state bad">No instances</strong> of {type}.
			</p>
			{code !== undefined && (
				<p>
					<code>{visibleText(code)}</code> {explained !== null && `${explained.meaning} ${explained.advice}`}
				</p>
			)}
		</>
	);
}

function Branch({ branch: { reason, sources, rule, rows } }: { readonly branch: FilterBranch }) {
	return (
		<li>
			<p>
				<PhraseText phrases={reasonPhrases(reason)} />
				{sources.map((source) => (
					<span key={JSON.stringify(source)}>
						, <PhraseText phrases={sourcePhrases(source)} />
					</span>
				))}
				{Object.entries(rule).map(([kind, key]) => (
					<span key={kind}>
						, {ruleWords[kind] ?? kind} <SetName kind={kind} name={key} />
					</span>
				))}
			</p>
			<ConditionTree condition={rows} />
		</li>
	);
}

const ruleWords: Readonly<Record<string, string>> = {
	userset: 'user set',
	resourceset: 'resource set',
	role: 'role',
	resource_type: 'resource',
};

function SetName({ kind, name }: { readonly kind: string; readonly name: string }) {
	const code = <code class="name">{visibleText(name)}</code>;
	const isSet = kind === 'userset' || kind === 'resourceset';
	return isSet ? <a href={screenPath(`condition-sets/${encodeURIComponent(name)}`)}>{code}</a> : code;
}

function sourcePhrases({ type, user, role = '', relation = '' }: FilterSource): readonly Phrase[] {
	if (type === 'role_assignment') return [user === undefined ? 'assigned on the instance' : 'assigned to everyone'];
	if (type === 'computed_role') return ['computed from ', { name: role }];
	return ['derived from ', { name: role }, ' via the relation ', { name: relation }];
}
