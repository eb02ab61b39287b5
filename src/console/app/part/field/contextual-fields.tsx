import { useEffect, useRef } from 'preact/hooks';
import {
	type ContextualRows,
	noContextualRows,
	readContextualRows,
	writeContextualRows,
} from '../../../model/check/contextual-rows.js';
import { documentationPath } from '../../../model/documentation-path.js';
import { Button } from '../../../part/button.js';
import { management } from '../../api.js';
import { proposeInstanceNames, proposeRelations, proposeRoles } from '../../propose.js';
import { screenPath } from '../../screen-path.js';
import { openSession } from '../../session.js';
import { useSideData } from '../../use-loaded.js';
import { LazyDetails } from '../lazy-details.js';
import { Combobox, type ComboboxProps } from './combobox.js';

interface ContextualFieldsProps {
	/** Contextual rows as text. */
	readonly text: string;
	readonly onText: (text: string) => void;
	/** True for tests, which the API decides without a decision point. */
	readonly isTested?: boolean;
}

/** Fields for roles and relationships that apply only to the check. */
export function ContextualFields({ text, onText, isTested = false }: ContextualFieldsProps) {
	return (
		<LazyDetails class="whole" summary="Contextual facts" isFirst={text !== ''}>
			{() => (
				<Rows
					rows={readContextualRows(text) ?? noContextualRows}
					onRows={(rows) => onText(writeContextualRows(rows))}
					isTested={isTested}
				/>
			)}
		</LazyDetails>
	);
}

interface RowsProps {
	readonly rows: ContextualRows;
	readonly onRows: (rows: ContextualRows) => void;
	readonly isTested: boolean;
}

function Rows({ rows, onRows, isTested }: RowsProps) {
	const { role_assignments, relationship_tuples } = rows;
	const setRoles = (roles: ContextualRows['role_assignments']) => onRows({ ...rows, role_assignments: roles });
	const setTuples = (tuples: ContextualRows['relationship_tuples']) => onRows({ ...rows, relationship_tuples: tuples });
	const list = useRef<HTMLDivElement>(null);
	const count = role_assignments.length + relationship_tuples.length;
	const shown = useRef(count);
	useEffect(() => {
		// A new row takes the focus. After a removal, the first "Add" button takes it.
		if (count > shown.current)
			list.current?.querySelector<HTMLInputElement>('input[value=""], input:placeholder-shown')?.focus();
		if (count < shown.current) list.current?.querySelector<HTMLButtonElement>('.line > button')?.focus();
		shown.current = count;
	}, [count]);
	return (
		<div ref={list} class="check-contextual">
			<p class="quiet">
				Roles and relationships that apply only to this check.{' '}
				<a href={documentationPath('develop/contextual-facts')}>Contextual facts</a>
			</p>
			<Permission isTested={isTested} />
			{role_assignments.map((row, index) => (
				<RowFields
					key={index}
					legend="Role of the user"
					name={`role ${index + 1}`}
					row={row}
					fields={[
						{ ...instanceField, member: 'resource_instance', label: 'On instance' },
						{ member: 'role', label: 'Role', propose: proposeRoles(row.resource_instance) },
					]}
					onRow={(next) => setRoles(replaced(role_assignments, index, next))}
				/>
			))}
			{relationship_tuples.map((row, index) => (
				<RowFields
					key={index}
					legend="Relationship"
					name={`relationship ${index + 1}`}
					row={row}
					fields={[
						{ ...instanceField, member: 'subject', label: 'Subject' },
						{ ...instanceField, member: 'object', label: 'Object' },
						{ member: 'relation', label: 'Relation', propose: proposeRelations(row.object.split(':')[0] ?? '') },
					]}
					onRow={(next) => setTuples(replaced(relationship_tuples, index, next))}
				/>
			))}
			<div class="line">
				<Button onClick={() => setRoles([...role_assignments, { role: '', resource_instance: '' }])}>Add role</Button>
				<Button onClick={() => setTuples([...relationship_tuples, { subject: '', relation: '', object: '' }])}>
					Add relationship
				</Button>
			</div>
		</div>
	);
}

const instanceField = { placeholder: 'resource:key', propose: proposeInstanceNames } as const;

/** Replaces a row; `null` removes it. */
function replaced<Row>(rows: readonly Row[], index: number, row: Row | null): readonly Row[] {
	return row === null ? rows.toSpliced(index, 1) : rows.with(index, row);
}

interface RowFieldsProps<Member extends string> {
	readonly legend: string;
	/** Name of the row for screen readers. */
	readonly name: string;
	readonly row: Readonly<Record<Member, string>>;
	readonly fields: readonly (Pick<ComboboxProps, 'label' | 'placeholder' | 'propose'> & { readonly member: Member })[];
	/** Replaces the row; `null` removes it. */
	readonly onRow: (row: Readonly<Record<Member, string>> | null) => void;
}

function RowFields<Member extends string>({ legend, name, row, fields, onRow }: RowFieldsProps<Member>) {
	return (
		<fieldset>
			<legend>{legend}</legend>
			{fields.map(({ member, ...field }) => (
				<Combobox key={member} {...field} value={row[member]} onValue={(text) => onRow({ ...row, [member]: text })} />
			))}
			<Button aria-label={`Remove ${name}`} onClick={() => onRow(null)}>
				Remove
			</Button>
		</fieldset>
	);
}

/** Notice if the environment does not allow contextual facts, or has no decision point to decide the check. */
function Permission({ isTested }: Pick<RowsProps, 'isTested'>) {
	const loaded = useSideData((signal) => management.get('/v2/projects/{proj_id}/envs/{env_id}', { signal }), []);
	if (!isTested && !openSession().decision_point) {
		return (
			<p class="notice">Only decision points accept contextual facts, and none is configured for this environment.</p>
		);
	}
	if (loaded.value === null || loaded.value.settings?.['contextual_facts'] === true) return null;
	return (
		<p class="notice">
			This environment does not accept contextual facts. Allow them in the{' '}
			<a href={`${screenPath('environments')}#settings`}>environment’s settings</a>.
		</p>
	);
}
