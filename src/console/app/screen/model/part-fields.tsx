import { useId } from 'preact/hooks';
import { derivationSource } from '../../../model/matrix/matrix-words.js';
import { derivationName, possibleDerivations } from '../../../model/matrix/policy-schema.js';
import { emptyComputedRole, readComputedRole, writeComputedRole } from '../../../model/schema/computed-role.js';
import { type PartField, type PartForm, partFields } from '../../../model/schema/part-form.js';
import { attributeTypes } from '../../../model/schema/part-words.js';
import { ownKey, type PartKind, partName, readParts, type SchemaPart } from '../../../model/schema/schema-part.js';
import { visibleText } from '../../../model/visible-text.js';
import { CheckField } from '../../../part/check-field.js';
import { SelectField } from '../../../part/select-field.js';
import { TextField } from '../../../part/text-field.js';
import { LazyDetails } from '../../part/lazy-details.js';
import { CheckList } from './check-list.js';
import { type ModelView, rowsOf } from './model-view.js';
import { PermissionFields } from './permission-fields.js';

interface PartFieldsProps {
	readonly view: ModelView;
	readonly kind: PartKind;
	readonly resource: string | null;
	/** Edited part; `null` for a new part. */
	readonly part: SchemaPart | null;
	readonly form: PartForm;
	readonly onChange: (change: Partial<PartForm>) => void;
}

export function PartFields(props: PartFieldsProps) {
	const { view, kind, resource, part, form, onChange } = props;
	const fields = new Set<PartField>(partFields[kind]);
	return (
		<>
			{part === null && (
				<HintedField
					label="Key"
					hint="Permanent. Your application uses the key in checks."
					value={form.key}
					maxLength={512}
					isFirst
					onValue={(key) => onChange({ key })}
				/>
			)}
			{fields.has('name') && (
				<HintedField
					label="Name (optional)"
					value={form.name}
					maxLength={1024}
					isFirst={part !== null}
					onValue={(name) => onChange({ name })}
				/>
			)}
			{fields.has('type') && (
				<SelectField
					label="Type"
					value={form.type}
					options={attributeTypes}
					onValue={(value) => onChange({ type: value })}
				/>
			)}
			{fields.has('subject') && <SubjectField {...props} />}
			{fields.has('newActions') && part === null && (
				<HintedField
					label="Actions (optional)"
					hint="Keys separated by commas, such as read, write."
					value={form.newActions}
					onValue={(newActions) => onChange({ newActions })}
				/>
			)}
			{fields.has('permissions') && (
				<PermissionFields view={view} kind={kind} resource={resource} form={form} onChange={onChange} />
			)}
			{fields.has('extends') && (
				<CheckList
					legend="Extends"
					hint="Roles whose permissions this role inherits."
					choices={rowsOf(view, kind, resource)
						.filter((row) => row.state !== 'removed' && (part === null || partName(row.part) !== partName(part)))
						.map((row) => ({ value: ownKey(row.part), phrases: [{ name: ownKey(row.part) }] }))}
					empty="There is no other role to extend."
					chosen={form.extends}
					onChosen={(chosen) => onChange({ extends: chosen })}
				/>
			)}
			{fields.has('isPublic') && form.computed === null && (
				<CheckField checked={form.isPublic} onChecked={(checked) => onChange({ isPublic: checked })}>
					Public: can be assigned to everyone, as user *
				</CheckField>
			)}
			{kind === 'relation' && <RelationConditionFields {...props} />}
			{fields.has('grantableTo') && form.computed === null && <HolderFields {...props} />}
			{fields.has('computed') && <ComputedFields {...props} />}
			{fields.has('derivations') && form.computed === null && <DerivationFields {...props} />}
			<HintedField
				label="Description (optional)"
				value={form.description}
				maxLength={16_384}
				onValue={(description) => onChange({ description })}
			/>
		</>
	);
}

/** Subject resource of a relation. It is fixed once the relation is stored, because its relationships depend on it. */
function SubjectField({ view, resource, part, form, onChange }: PartFieldsProps) {
	const isStored = part !== null && readParts(view.objects).has(partName(part));
	const id = useId();
	return (
		<div class="model-field">
			<SelectField
				label="Related resource"
				value={form.subject}
				disabled={isStored}
				aria-describedby={id}
				empty="Choose a resource"
				options={[...view.policy.resources.keys()]}
				onValue={(value) => onChange({ subject: value })}
			/>
			<small id={id} class="quiet">
				{isStored
					? 'To relate a different resource, add a new relation.'
					: `Instances of the related resource link to instances of ${visibleText(resource ?? '')}.`}
			</small>
		</div>
	);
}

function DerivationFields({ view, resource, form, onChange }: PartFieldsProps) {
	const choices = possibleDerivations(view.policy, resource ?? '').map((derivation) => ({
		value: derivationName(derivation),
		phrases: derivationSource(derivation),
	}));
	return (
		<>
			<CheckList
				legend="Derived from"
				hint="Users with a chosen role on a related instance also have this role."
				choices={choices}
				wide
				empty="Add a relation to a resource with roles first."
				chosen={form.derivations}
				onChosen={(derivations) => onChange({ derivations })}
			/>
			{form.derivations.length > 0 && (
				<CheckField checked={form.directOnly} onChecked={(checked) => onChange({ directOnly: checked })}>
					A role assigned on the instance replaces derived roles there
				</CheckField>
			)}
		</>
	);
}

/** Sets of users to which a role can be assigned, and conditions under which it can be assigned. */
function HolderFields(props: PartFieldsProps) {
	const {
		view: { policy },
		form,
		onChange,
	} = props;
	const isUsed = form.grantableTo.length + form.grantConditions.length > 0;
	return (
		<LazyDetails class="model-holders" summary="Sets of users and conditions" isFirst={isUsed}>
			{() => (
				<>
					<CheckList
						legend="Can be assigned to sets of users"
						hint="A set contains all users with a chosen role on an instance, such as team:eng#member."
						choices={[...policy.resourceRoles.keys()].map(namedChoice)}
						empty="Add roles to resources first."
						chosen={form.grantableTo}
						onChosen={(grantableTo) => onChange({ grantableTo })}
					/>
					<ConditionList
						{...props}
						legend="Can be assigned under conditions"
						hint="An assignment can use a chosen condition set, with its own values."
					/>
				</>
			)}
		</LazyDetails>
	);
}

/** Conditions under which relationships can be created. */
function RelationConditionFields(props: PartFieldsProps) {
	return (
		<LazyDetails class="model-holders" summary="Conditions" isFirst={props.form.grantConditions.length > 0}>
			{() => (
				<ConditionList
					{...props}
					legend="Relationships can have conditions"
					hint="A relationship can use a chosen condition set, with its own values."
				/>
			)}
		</LazyDetails>
	);
}

interface ConditionListProps extends PartFieldsProps {
	readonly legend: string;
	readonly hint: string;
}

function ConditionList({ view: { policy }, form, onChange, legend, hint }: ConditionListProps) {
	return (
		<CheckList
			legend={legend}
			hint={hint}
			choices={[...policy.grantSets.keys()].map(namedChoice)}
			empty="Create a condition set of the type “Condition for grants” first."
			chosen={form.grantConditions}
			onChosen={(grantConditions) => onChange({ grantConditions })}
		/>
	);
}

function namedChoice(value: string) {
	return { value, phrases: [{ name: value }] };
}

/** Expression of a computed role, in lists or as JSON. */
function ComputedFields({ view, resource, part, form, onChange }: PartFieldsProps) {
	const { computed } = form;
	const read = computed === null ? null : readComputedRole(computed);
	const choices = rowsOf(view, 'resource_role', resource)
		.filter((row) => row.state !== 'removed' && (part === null || partName(row.part) !== partName(part)))
		.map((row) => ({ value: ownKey(row.part), phrases: [{ name: ownKey(row.part) }] }));
	const lists = [
		['all', 'With all of these roles'],
		['any', 'With at least one of these roles'],
		['none', 'With none of these roles'],
	] as const;
	return (
		<>
			<CheckField
				checked={computed !== null}
				onChecked={(checked) =>
					onChange(checked ? { computed: writeComputedRole(emptyComputedRole), isPublic: false } : { computed: null })
				}
			>
				Computed: held by users with other roles on the same instance
			</CheckField>
			{read !== null && (
				<div class="model-computed">
					{lists.map(([list, legend]) => (
						<CheckList
							key={list}
							legend={legend}
							choices={choices}
							empty="Add other roles to this resource first."
							chosen={read[list]}
							onChosen={(chosen) => onChange({ computed: writeComputedRole({ ...read, [list]: chosen }) })}
						/>
					))}
				</div>
			)}
			{computed !== null && read === null && (
				<p class="quiet">
					This form cannot show the expression <code class="key">{visibleText(JSON.stringify(computed))}</code>. To
					change it, use the API or import a document.
				</p>
			)}
		</>
	);
}

interface HintedFieldProps {
	readonly label: string;
	readonly hint?: string;
	readonly value: string;
	readonly maxLength?: number;
	/** True for the field that takes focus when the form opens. */
	readonly isFirst?: boolean;
	readonly onValue: (text: string) => void;
}

function HintedField({ hint, isFirst = false, ...field }: HintedFieldProps) {
	const id = useId();
	return (
		<div class="model-field">
			<TextField
				{...field}
				autofocus={isFirst}
				aria-describedby={hint === undefined ? undefined : id}
				autocomplete="off"
				autocapitalize="off"
				spellcheck={false}
			/>
			{hint !== undefined && (
				<small id={id} class="quiet">
					{hint}
				</small>
			)}
		</div>
	);
}
