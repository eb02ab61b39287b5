import { attributeType, type ConditionAttribute } from '../../../model/condition/condition-attributes.js';
import {
	operatorNamed,
	operatorsFor,
	withAttribute,
	withOperator,
} from '../../../model/condition/condition-operator.js';
import {
	addCondition,
	type ConditionComparison,
	type ConditionGroup,
	type ConditionNode,
	type ConditionPath,
	type ConditionTree,
	readConditions,
	replaceCondition,
	writeConditions,
} from '../../../model/condition/condition-tree.js';
import { type MatchOperand, readMatchOperand, writeMatchOperand } from '../../../model/condition/match-operand.js';
import { Button } from '../../../part/button.js';
import { SelectField } from '../../../part/select-field.js';
import { Combobox } from '../../part/field/combobox.js';
import { MatchField } from './match-field.js';
import { OperandField } from './operand-field.js';
import { RawField } from './raw-field.js';

interface ConditionBuilderProps {
	readonly tree: ConditionTree;
	readonly onTree: (tree: ConditionTree) => void;
	readonly attributes: readonly ConditionAttribute[];
	/** Problems, keyed by the path of the affected part. */
	readonly problems: ReadonlyMap<string | null, readonly string[]>;
	/** Attributes of the resources whose instances an attribute can refer to, keyed by resource. */
	readonly related: ReadonlyMap<string, readonly ConditionAttribute[]>;
	/**
	 * Kind of objects that the conditions select. `grant`: role assignments and relationships; `member`: the objects of a
	 * `match`.
	 */
	readonly object: 'user' | 'resource' | 'grant' | 'member';
}

/** Props shared by all builder parts. */
interface Shared extends ConditionBuilderProps {
	replace(path: ConditionPath, node: ConditionNode | null): void;
}

interface PartProps<Node extends ConditionNode> {
	readonly node: Node;
	readonly path: ConditionPath;
	readonly shared: Shared;
}

/** Conditions as rows. The rows form groups of comparisons, and each group or comparison may be negated. */
export function ConditionBuilder(props: ConditionBuilderProps) {
	const { tree, onTree, object } = props;
	const shared: Shared = { ...props, replace: (path, node) => onTree(replaceCondition(tree, path, node)) };
	return (
		<section
			class="condition-sets-builder"
			aria-label={object === 'member' ? 'Conditions of the match' : 'Condition builder'}
			tabIndex={-1}
		>
			{tree === null ? <p class="quiet">{emptyTexts[object]}</p> : <Part node={tree} path={[]} shared={shared} />}
			{tree?.kind !== 'group' && <AddButtons path={[]} shared={shared} />}
		</section>
	);
}

const emptyTexts = {
	user: 'No conditions: the set matches every user.',
	resource: 'No conditions: the set matches every instance of the resource.',
	grant: 'No conditions: grants under the set apply in all checks.',
	member: 'No conditions: everything matches.',
} as const;

function Part({ node, path, shared }: PartProps<ConditionNode>) {
	const told = shared.problems.get(path.join('.')) ?? [];
	return (
		<div class={told.length > 0 ? 'condition-sets-part wrong' : 'condition-sets-part'}>
			{node.kind === 'group' && <Group node={node} path={path} shared={shared} />}
			{node.kind === 'not' && (
				<fieldset>
					<legend class="unseen">Negated condition</legend>
					<div class="line">
						<strong>Not:</strong>
						<Button onClick={() => shared.replace(path, node.part)}>Remove “not”</Button>
					</div>
					<Part node={node.part} path={[...path, 0]} shared={shared} />
				</fieldset>
			)}
			{node.kind === 'comparison' && <Comparison node={node} path={path} shared={shared} />}
			{node.kind === 'raw' && (
				<div class="condition-sets-row raw">
					<RawField json={node.json} onJson={(json) => shared.replace(path, { kind: 'raw', json })} />
					<div class="line">
						<RemoveButton path={path} shared={shared} />
					</div>
				</div>
			)}
			{told.map((text) => (
				<p key={text} class="failure" role="alert">
					{text}
				</p>
			))}
		</div>
	);
}

const groupTexts = { all: 'All of these match', any: 'Any of these match' } as const;

function Group({ node, path, shared }: PartProps<ConditionGroup>) {
	const join = node.word === 'allOf' || node.word === 'and' ? 'all' : 'any';
	return (
		<fieldset>
			<legend class="unseen">{groupTexts[join]}</legend>
			<div class="line">
				<label class="inline">
					<span class="unseen">Combine conditions with</span>
					<select
						value={join}
						onChange={(event) => {
							const word = event.currentTarget.value === 'all' ? 'allOf' : 'anyOf';
							shared.replace(path, { ...node, word });
						}}
					>
						<option value="all">{groupTexts.all}</option>
						<option value="any">{groupTexts.any}</option>
					</select>
				</label>
				<NotButton node={node} path={path} shared={shared} />
				<RemoveButton path={path} shared={shared} what="group" />
			</div>
			{node.parts.map((part, index) => (
				<Part key={index} node={part} path={[...path, index]} shared={shared} />
			))}
			{node.parts.length === 0 && (
				<p class="quiet">{join === 'all' ? 'Empty group: always matches.' : 'Empty group: never matches.'}</p>
			)}
			<AddButtons path={path} shared={shared} />
		</fieldset>
	);
}

/** Initial attribute of a new condition. The user replaces or completes it. */
const firstAttributes = { user: 'user.key', resource: 'resource.key', grant: 'context.', member: '' } as const;

/** Prefixes of the attributes that conditions can compare. */
const compared = {
	user: ['user.', 'now'],
	resource: ['resource.', 'now'],
	grant: ['context.', 'user.', 'tenant.', 'now'],
	member: [''],
} as const;

function AddButtons({ path, shared }: { readonly path: ConditionPath; readonly shared: Shared }) {
	const { tree, onTree, object } = shared;
	const add = (node: ConditionNode, { currentTarget }: Event) => {
		onTree(addCondition(tree, path, node));
		const around = currentTarget instanceof HTMLElement ? currentTarget.closest('fieldset, section') : null;
		// After the next render, the new part is the last part in its group.
		requestAnimationFrame(() => {
			const fields = around?.querySelectorAll<HTMLElement>(
				node.kind === 'group' ? 'fieldset select' : '[role=combobox]',
			);
			[...(fields ?? [])].at(-1)?.focus();
		});
	};
	return (
		<div class="line">
			<Button
				onClick={(event) =>
					add(
						{
							kind: 'comparison',
							attribute: firstAttributes[object],
							operator: 'equals',
							operand: '',
						},
						event,
					)
				}
			>
				Add condition
			</Button>
			<Button onClick={(event) => add({ kind: 'group', word: 'anyOf', parts: [] }, event)}>Add group</Button>
		</div>
	);
}

function RemoveButton({
	path,
	shared,
	what = 'condition',
}: {
	readonly path: ConditionPath;
	readonly shared: Shared;
	readonly what?: string;
}) {
	return (
		<Button
			onClick={({ currentTarget }) => {
				// The button disappears together with its row, so move focus to the section.
				currentTarget.closest('section')?.focus();
				shared.replace(path, null);
			}}
		>
			Remove<span class="unseen"> {what}</span>
		</Button>
	);
}

function NotButton({ node, path, shared }: PartProps<ConditionNode>) {
	return <Button onClick={() => shared.replace(path, { kind: 'not', part: node })}>Negate</Button>;
}

function Comparison({ node, path, shared }: PartProps<ConditionComparison>) {
	const { attributes, related, object } = shared;
	const type = attributeType(attributes, node.attribute);
	const offered = operatorsFor(type);
	const match = operatorNamed(node.operator)?.operand === 'match' ? readMatchOperand(node.operand) : null;
	const setMatch = (next: MatchOperand) => shared.replace(path, { ...node, operand: writeMatchOperand(next) });
	const isOffered = offered.some(({ name }) => name === node.operator);
	const propose = (prefixes: readonly string[]) => async (text: string) =>
		attributes
			.filter(({ name }) => prefixes.some((prefix) => name.startsWith(prefix)))
			.filter(({ name }) => name.includes(text) || attributes.some((one) => one.name === text))
			.slice(0, 50)
			.map(({ name, note }) => ({ value: name, note }));
	return (
		<div class="condition-sets-row">
			<Combobox
				label="Attribute"
				value={node.attribute}
				onValue={(text) => shared.replace(path, withAttribute(node, text, attributeType(attributes, text)))}
				propose={propose(compared[object])}
			/>
			<SelectField
				label="Operator"
				value={node.operator}
				options={[...(isOffered ? [] : [node.operator]), ...offered.map(({ name, label }) => [name, label] as const)]}
				onValue={(value) => shared.replace(path, withOperator(node, value, type))}
			/>
			{match === null ? (
				<OperandField
					operator={node.operator}
					type={type}
					operand={node.operand}
					isLiteral={object === 'member'}
					onOperand={(operand) => shared.replace(path, { ...node, operand })}
					proposeAttribute={propose(['grant.', 'user.', 'resource.', 'tenant.', 'now'])}
					isOfGrant={object === 'grant'}
				/>
			) : (
				<MatchField
					operand={match}
					resources={[...related.keys()]}
					isKey={type === 'string'}
					onRelated={(one) => setMatch({ ...match, related: one })}
				>
					<ConditionBuilder
						tree={readConditions(match.match)}
						onTree={(tree) => setMatch({ ...match, match: writeConditions(tree) })}
						attributes={related.get(match.related ?? '') ?? []}
						// Conditions on a related instance cannot refer to further instances.
						related={new Map()}
						problems={new Map()}
						object="member"
					/>
				</MatchField>
			)}
			<div class="line">
				<NotButton node={node} path={path} shared={shared} />
				<RemoveButton path={path} shared={shared} />
			</div>
		</div>
	);
}
