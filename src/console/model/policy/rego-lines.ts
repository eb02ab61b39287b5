import { type Attempt, type AttemptStep, roleKey, splitInstance } from '../check/attempt.js';
import { automaticPrefix } from '../matrix/policy-schema.js';

export interface PolicyFile {
	readonly path: string;
	readonly text: string;
}

/** Related lines in a file, with line numbers from 1. */
export interface RegoExcerpt {
	readonly file: string;
	/** First line number. The line may be a comment above the rule. */
	readonly from: number;
	readonly text: string;
	/** Numbers of the lines in the rule itself. */
	readonly marked: readonly number[];
}

/** A rule with the comment above it. */
interface RuleBlock {
	readonly from: number;
	/** Number of the first line in the rule itself. */
	readonly head: number;
	readonly lines: readonly string[];
}

/**
 * Returns the Rego for an attempt: the rule that grants the action and, for each step, the rule that gives the role.
 */
export function attemptExcerpts(files: readonly PolicyFile[], { by, policy, chain }: Attempt): readonly RegoExcerpt[] {
	const granting = excerpts(files, policy.file, (block) =>
		by === 'role_in_tenant' ? grantsToTenantRoles(block, policy.rule) : isNamed(block, policy.rule),
	);
	const [rule] = chain;
	const joined =
		rule?.type === 'set_rule' ? excerpts(files, policy.file, (block) => joinsSets(block, rule)).slice(0, 3) : [];
	const steps = chain.flatMap((step, index) => stepExcerpts(files, step, chain[index + 1]));
	const places = new Set<string>();
	return [...granting, ...joined, ...steps].filter(({ file, from }) => {
		const place = `${file} ${from}`;
		return !places.has(place) && places.add(place);
	});
}

/**
 * True for the rule that grants an action to tenant roles: the action's own rule or, if that rule refers to set rules,
 * `granted_by_role`.
 */
function grantsToTenantRoles(block: RuleBlock, rule: string): boolean {
	const text = block.lines.join('\n');
	if (isNamed(block, rule)) return !text.includes('data.regolith.set_rules');
	return isNamed(block, 'granted_by_role') && text.includes('rbac.granted_by(');
}

function stepExcerpts(
	files: readonly PolicyFile[],
	step: AttemptStep,
	next: AttemptStep | undefined,
): readonly RegoExcerpt[] {
	if (step.type === 'set_rule' || step.file === undefined) return [];
	const { file } = step;
	const isHeld = (block: RuleBlock) => isNamed(block, 'held') || isNamed(block, 'held_on_any');
	const titled = excerpts(files, file, (block) => isHeld(block) && hasTitle(block, stepTitle(step, next)));
	return (titled.length > 0 ? titled : excerpts(files, file, isHeld)).slice(0, 1);
}

/** Returns the start of the title in the rule body for a step. */
function stepTitle(step: Exclude<AttemptStep, { readonly type: 'set_rule' }>, next: AttemptStep | undefined): string {
	if (step.type === 'role_assignment') return 'Assigned on';
	// The function of a computed role has a single body, whatever its title.
	if (step.type === 'computed_role') return '';
	const source = next === undefined || next.type === 'set_rule' ? '' : roleKey(next.role, next.resource);
	return `Derived from ${splitInstance(step.subject).type}#${source} via ${step.relation}`;
}

/** True if a block's METADATA title starts with `title`. */
function hasTitle({ lines }: RuleBlock, title: string): boolean {
	const written = JSON.stringify(title).slice(0, -1);
	return lines.some((line) => line.startsWith(`# title: ${written}`));
}

function joinsSets({ lines }: RuleBlock, rule: Extract<AttemptStep, { readonly type: 'set_rule' }>): boolean {
	const text = lines.join('\n');
	const userSet = rule.userset ?? automaticPrefix + rule.role;
	const resourceSet = rule.resourceset ?? automaticPrefix + rule.resource_type;
	return names(text, 'user_sets', userSet) || names(text, 'resource_sets', resourceSet);
}

/** True if the Rego text refers to a set, written with a dot or with brackets. */
function names(text: string, kind: string, key: string): boolean {
	const reference = `data.regolith.${kind}`;
	return text.includes(`${reference}.${key}.`) || text.includes(`${reference}[${JSON.stringify(key)}]`);
}

/** Returns the wanted blocks in a file. Returns nothing if the file does not exist. */
function excerpts(
	files: readonly PolicyFile[],
	path: string,
	isWanted: (block: RuleBlock) => boolean,
): readonly RegoExcerpt[] {
	const file = files.find((one) => one.path === path);
	if (file === undefined) return [];
	return ruleBlocks(file.text)
		.filter(isWanted)
		.map(({ from, head, lines }) => ({
			file: path,
			from,
			text: lines.join('\n'),
			marked: lines.flatMap((_, index) => (from + index < head ? [] : [from + index])),
		}));
}

/**
 * Splits a file formatted by `opa fmt` into rules. Blank lines separate the rules, and each rule has its comments above
 * it.
 */
function ruleBlocks(text: string): readonly RuleBlock[] {
	const blocks: RuleBlock[] = [];
	let begun: string[] = [];
	const end = (next: number) => {
		const comments = begun.findIndex((line) => !line.startsWith('#'));
		if (comments !== -1) blocks.push({ from: next - begun.length, head: next - begun.length + comments, lines: begun });
		begun = [];
	};
	const lines = text.split('\n');
	for (const [index, line] of lines.entries()) {
		if (line === '') end(index + 1);
		else begun.push(line);
	}
	end(lines.length + 1);
	return blocks;
}

/**
 * True if a block belongs to a rule. The rule may be an entry such as `permits["read"]`, or the name of a function or
 * rule.
 */
function isNamed({ from, head, lines }: RuleBlock, rule: string): boolean {
	const first = lines[head - from] ?? '';
	const after = first.charAt(rule.length);
	return first.startsWith(rule) && !/[\w[]/.test(after);
}
