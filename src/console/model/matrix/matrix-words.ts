import { type Phrase, phraseText } from '../phrase.js';
import {
	type CellReason,
	type CellState,
	columnRole,
	type DerivedStep,
	type MatrixAction,
	type MatrixCell,
	type MatrixColumn,
} from './policy-matrix.js';
import { automaticPrefix, type Derivation, type SetRule } from './policy-schema.js';

export const stateWords: Readonly<Record<CellState, string>> = {
	granted: 'granted',
	inherited: 'inherited',
	derived: 'derived',
	condition: 'by condition',
	none: 'not granted',
	apart: 'not applicable',
};

/** Words for column kinds. */
export const columnWords: Readonly<Record<MatrixColumn['kind'], string>> = {
	role: 'Tenant roles',
	resource_role: 'Resource roles',
	user_set: 'User sets',
};

/** Describes a column in a few words. */
export function columnPhrases(column: MatrixColumn): readonly Phrase[] {
	const what = column.kind === 'role' ? 'tenant role ' : column.kind === 'resource_role' ? 'role ' : 'user set ';
	return [what, { name: columnRole(column) }];
}

/** Formats the reason for a cell as a sentence. */
export function reasonPhrases(column: MatrixColumn, reason: CellReason): readonly Phrase[] {
	if (reason.by === 'own') return ['Granted by the role.'];
	if (reason.by === 'extends') return ['Granted by ', { name: reason.role }, ', which the role extends.'];
	if (reason.by === 'derivation') return derivationPhrases(columnRole(column), reason.steps, reason.through);
	const { rule, parent } = reason;
	const who: readonly Phrase[] =
		parent === null
			? ['A rule grants the action to ', ...holderPhrases(column)]
			: ['A rule grants the action to the parent set ', { name: parent }];
	return [...who, ' on ', ...resourceSetPhrases(rule), '.'];
}

function holderPhrases({ kind, key }: MatrixColumn): readonly Phrase[] {
	return kind === 'user_set' ? [{ name: key }] : ['users with ', { name: key }];
}

/** Formats a rule's scope: a resource set, or a whole resource. */
export function resourceSetPhrases({ resource_set }: Pick<SetRule, 'resource_set'>): readonly Phrase[] {
	if (!resource_set.startsWith(automaticPrefix)) return [{ name: resource_set }];
	return ['every ', { name: resource_set.slice(automaticPrefix.length) }];
}

function derivationPhrases(role: string, steps: readonly DerivedStep[], through: string | null): readonly Phrase[] {
	const phrases = steps.flatMap((step, index): readonly Phrase[] => {
		const source = steps[index - 1]?.role ?? role;
		const [from = ''] = source.split(':');
		const [to = ''] = step.role.split(':');
		const who: readonly Phrase[] = index === 0 ? ['Users with ', { name: source }, ' get '] : [', and therefore '];
		return [
			...who,
			{ name: step.role },
			' on every ',
			{ name: to },
			' whose ',
			{ name: step.relation },
			` is that ${from}`,
		];
	});
	const last: readonly Phrase[] =
		through === null ? [', which grants it.'] : [', which extends ', { name: through }, '.'];
	return [...phrases, ...last];
}

/** Formats a derivation for use in a sentence. */
export function derivationSource({ role, on_resource, linked_by_relation }: Derivation): readonly Phrase[] {
	return [{ name: `${on_resource}:${role}` }, ' via ', { name: linked_by_relation }];
}

/** Returns a cell's full text. `before` is the cell without the draft, if it differs. */
export function cellLabel(
	column: MatrixColumn,
	{ resource, action }: MatrixAction,
	{ state, reasons }: MatrixCell,
	before: MatrixCell | null,
): string {
	const subject = phraseText([{ name: `${resource}:${action}` }, ', ', ...columnPhrases(column), ': ']);
	const drafted = before === null ? '' : ` Changed in the draft (previously ${stateWords[before.state]}).`;
	const [reason] = reasons;
	const why = reason === undefined || reason.by === 'own' ? '' : ` ${phraseText(reasonPhrases(column, reason))}`;
	return `${subject}${stateWords[state]}.${why}${drafted}`;
}
