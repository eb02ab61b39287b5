import type { Residual } from '../../../../../filter/residual.js';
import { comparisonPhrases, type FilterComparison } from '../../../../model/filter/comparison-phrases.js';
import { PhraseText } from '../../../part/phrase-text.js';
import { FoldedRows } from '../../../part/table/folded-rows.js';
import { screenPath } from '../../../screen-path.js';

/** Condition of a filter as nested lists. */
export function ConditionTree({ condition }: { readonly condition: Residual }) {
	return (
		<ul class="filter-tree">
			<Part condition={condition} />
		</ul>
	);
}

function Part({ condition }: { readonly condition: Residual }) {
	if (condition.kind === 'not') {
		return (
			<li>
				Not:
				<ul>
					<Part condition={condition.part} />
				</ul>
			</li>
		);
	}
	if (!('parts' in condition)) {
		return (
			<li>
				<Comparison comparison={condition} />
			</li>
		);
	}
	const { kind, parts } = condition;
	if (parts.length === 0) return <li>{kind === 'all' ? 'Always matches.' : 'Never matches.'}</li>;
	return (
		<li>
			{kind === 'all' ? 'All of these match:' : 'Any of these match:'}
			<FoldedRows rows={parts}>
				{(shown) => (
					<ul>
						{shown.map((part, index) => (
							<Part key={index} condition={part} />
						))}
					</ul>
				)}
			</FoldedRows>
		</li>
	);
}

/** A comparison, with the condition set that contains it. */
function Comparison({ comparison }: { readonly comparison: FilterComparison }) {
	const { name } = comparison;
	return (
		<>
			<PhraseText phrases={comparisonPhrases(comparison)} />{' '}
			<span class="quiet">
				{name === 'roles' ? (
					'from roles'
				) : (
					<>
						from <a href={screenPath(`condition-sets/${encodeURIComponent(name)}`)}>{name}</a>
					</>
				)}
			</span>
		</>
	);
}
