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
import { useLoaded } from '../../use-loaded.js';
import { LazyDetails } from '../lazy-details.js';
import { Combobox } from './combobox.js';

interface ContextualFieldsProps {
	/** Contextual rows as text. */
	readonly text: string;
	readonly onText: (text: string) => void;
	/** True for tests, which the API decides without a decision point. */
	readonly isTested?: boolean;
}

/** Fields for roles and relationships in a check only. */
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
		// A new row takes the focus. After a removal, the buttons take it.
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
			{role_assignments.map((row, index) => {
				const set = (change: Partial<typeof row>) => setRoles(role_assignments.with(index, { ...row, ...change }));
				return (
					<fieldset key={index}>
						<legend>Role of the user</legend>
						<Combobox
							label="On instance"
							placeholder="resource:key"
							value={row.resource_instance}
							onValue={(resource_instance) => set({ resource_instance })}
							propose={proposeInstanceNames}
						/>
						<Combobox
							label="Role"
							value={row.role}
							onValue={(role) => set({ role })}
							propose={proposeRoles(row.resource_instance)}
						/>
						<RemoveButton
							name={`role ${index + 1}`}
							onRemove={() => setRoles(role_assignments.filter((_, other) => other !== index))}
						/>
					</fieldset>
				);
			})}
			{relationship_tuples.map((row, index) => {
				const set = (change: Partial<typeof row>) => setTuples(relationship_tuples.with(index, { ...row, ...change }));
				const [resource = ''] = row.object.split(':');
				return (
					<fieldset key={index}>
						<legend>Relationship</legend>
						<Combobox
							label="Subject"
							placeholder="resource:key"
							value={row.subject}
							onValue={(subject) => set({ subject })}
							propose={proposeInstanceNames}
						/>
						<Combobox
							label="Object"
							placeholder="resource:key"
							value={row.object}
							onValue={(object) => set({ object })}
							propose={proposeInstanceNames}
						/>
						<Combobox
							label="Relation"
							value={row.relation}
							onValue={(relation) => set({ relation })}
							propose={proposeRelations(resource)}
						/>
						<RemoveButton
							name={`relationship ${index + 1}`}
							onRemove={() => setTuples(relationship_tuples.filter((_, other) => other !== index))}
						/>
					</fieldset>
				);
			})}
			<div class="line">
				<Button onClick={() => setRoles([...role_assignments, { role: '', resource_instance: '' }])}>Add role</Button>
				<Button onClick={() => setTuples([...relationship_tuples, { subject: '', relation: '', object: '' }])}>
					Add relationship
				</Button>
			</div>
		</div>
	);
}

function RemoveButton({ name, onRemove }: { readonly name: string; readonly onRemove: () => void }) {
	return (
		<Button aria-label={`Remove ${name}`} onClick={onRemove}>
			Remove
		</Button>
	);
}

/** Notice in an environment that does not allow contextual facts. */
function Permission({ isTested }: Pick<RowsProps, 'isTested'>) {
	const loaded = useLoaded((signal) => management.get('/v2/projects/{proj_id}/envs/{env_id}', { signal }), [], {
		accompanies: true,
	});
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
