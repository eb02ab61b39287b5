import type { Column, ColumnComparison, ResidualOperand } from '../../../filter/residual.js';
import { valueText } from '../check/attempt-words.js';
import { operatorNamed } from '../condition/condition-operator.js';
import type { Phrase } from '../phrase.js';

/** Comparison in a filter, as in `Residual`. */
export type FilterComparison = ColumnComparison & { readonly kind: 'comparison' | 'mistyped' };

/** Formats a comparison in a filter, such as "`resource.level` is at least `3`". */
export function comparisonPhrases({ kind, column, operator, operand, reversed }: FilterComparison): readonly Phrase[] {
	const own: Phrase = { name: columnText(column) };
	const other = operandPhrases(operand);
	if (kind === 'mistyped') return [own, ' cannot be compared with ', ...other];
	if (operator === 'is-null') {
		return [own, 'value' in operand && operand.value === false ? ' has a value' : ' is missing or null'];
	}
	const words = ` ${operatorNamed(operator)?.label ?? operator} `;
	return reversed === true ? [...other, words, own] : [own, words, ...other];
}

/** Returns a column's name, as in conditions. */
function columnText(column: Column): string {
	return `resource.${column.kind === 'attribute' ? column.path.join('.') : column.kind}`;
}

/** Maximum number of listed values. */
const shownValues = 10;

function operandPhrases(operand: ResidualOperand): readonly Phrase[] {
	if ('column' in operand) return [{ name: columnText(operand.column) }];
	if ('match' in operand) return ['the fields ', { name: valueText(operand.match) }];
	const { value } = operand;
	if (!Array.isArray(value)) return [{ name: valueText(value) }];
	const shown = value.slice(0, shownValues).flatMap((item, index): readonly Phrase[] => {
		return [...(index > 0 ? [', '] : []), { name: valueText(item) }];
	});
	const left = value.length - shownValues;
	return left > 0 ? [...shown, ` and ${left.toLocaleString('en')} more`] : shown;
}
