import { useLayoutEffect, useRef } from 'preact/hooks';
import { toggleDerivation, toggleGrant } from '../../../model/matrix/matrix-edit.js';
import type { MatrixRow } from '../../../model/matrix/matrix-view.js';
import { columnPhrases, reasonPhrases, stateWords } from '../../../model/matrix/matrix-words.js';
import {
	type CellReason,
	columnRole,
	type DerivedStep,
	type MatrixAction,
	type MatrixColumn,
	type PolicyMatrix,
} from '../../../model/matrix/policy-matrix.js';
import { modelPath } from '../../../model/schema/model-path.js';
import { visibleText } from '../../../model/visible-text.js';
import { Button } from '../../../part/button.js';
import { editDraft } from '../../current-draft.js';
import { PhraseText } from '../../part/phrase-text.js';
import { screenPath } from '../../screen-path.js';
import { mayWrite } from '../../session.js';
import { CellRules } from './cell-rules.js';
import { CellMark, cellBefore, isEditable } from './matrix-cell.js';
import type { PanelProps } from './panel-props.js';
import { RoleDerivations } from './role-derivations.js';

interface CellPanelProps extends PanelProps {
	readonly row: MatrixRow;
	/** Matrix without the draft's changes; `null` if there is no draft. */
	readonly stored: PolicyMatrix | null;
	/** Counter. Each increment moves focus to the panel. */
	readonly focusTurn: number;
	/** Returns the focus to the cell. */
	readonly onLeave: () => void;
}

/**
 * Details of a cell: its grants and the reasons for them, controls to change the grants, and the users with the role.
 */
export function CellPanel({ row, stored, focusTurn, onLeave, ...panel }: CellPanelProps) {
	const element = useRef<HTMLElement>(null);
	useLayoutEffect(() => {
		if (focusTurn === 0) return;
		const field = element.current?.querySelector<HTMLElement>('input, select, button, a');
		(field ?? element.current)?.focus();
	}, [focusTurn]);
	const { column } = panel;
	const { resource, action } = row;
	return (
		<aside
			ref={element}
			class="matrix-panel"
			aria-labelledby="matrix-panel-title"
			tabIndex={-1}
			onKeyDown={(event) => {
				if (event.key === 'Escape') onLeave();
			}}
		>
			<h2 id="matrix-panel-title">
				<PhraseText phrases={[{ name: action === null ? resource : `${resource}:${action}` }]} />
			</h2>
			<p>
				for <PhraseText phrases={columnPhrases(column)} />
				{column.name !== '' && column.name !== column.key && <span class="quiet"> {visibleText(column.name)}</span>}
			</p>
			{action !== null && <CellState place={{ resource, action }} stored={stored} {...panel} />}
			{column.kind === 'resource_role' && column.resource === resource && <RoleDerivations {...panel} />}
			<ColumnLink column={column} />
		</aside>
	);
}

function CellState({
	place,
	stored,
	...panel
}: PanelProps & { readonly place: MatrixAction; readonly stored: PolicyMatrix | null }) {
	const { column, matrix, objects, revision } = panel;
	const cell = matrix.cell(column, place);
	const before = cellBefore(cell, column, place, stored);
	const isOwn = cell.reasons.some(({ by }) => by === 'own');
	const isRole = column.kind === 'role' || (column.kind === 'resource_role' && isEditable(column, place));
	return (
		<>
			<p class="line">
				<CellMark state={cell.state} /> <strong>{stateWords[cell.state]}</strong>
				{before !== null && (
					<span class="badge warn">changed in the draft (previously {stateWords[before.state]})</span>
				)}
			</p>
			<ul class="matrix-reasons">
				{cell.reasons.map((reason, index) => (
					<li key={index}>
						<PhraseText phrases={reasonPhrases(column, reason)} />
						{reason.by === 'derivation' && mayWrite.value && <CutDerivation reason={reason} {...panel} />}
					</li>
				))}
			</ul>
			{cell.state === 'apart' && (
				<p class="quiet">
					{column.kind === 'user_set'
						? `The user set depends on roles on ${column.resource}, so its rules can only grant actions on ${column.resource}.`
						: 'A resource role grants only actions of its own resource. Use a derivation to grant actions of another resource.'}
				</p>
			)}
			{isRole && mayWrite.value && (
				<Button onClick={() => editDraft(revision, (draft) => toggleGrant(objects, draft, column, place))}>
					{isOwn ? 'Remove from role' : 'Grant to role'}
				</Button>
			)}
			{column.kind !== 'resource_role' && isEditable(column, place) && <CellRules place={place} {...panel} />}
		</>
	);
}

type DerivationReason = Extract<CellReason, { readonly by: 'derivation' }>;

/** Buttons that each remove, in the draft, one of the derivations behind a grant. */
function CutDerivation({
	reason: { steps },
	column,
	objects,
	revision,
}: PanelProps & { readonly reason: DerivationReason }) {
	const cut = (step: DerivedStep, index: number) => {
		const source = steps[index - 1]?.role ?? columnRole(column);
		const [on_resource = '', role = ''] = source.split(':');
		const derivation = { role, on_resource, linked_by_relation: step.relation };
		editDraft(revision, (draft) => toggleDerivation(objects, draft, step.role, derivation));
	};
	return (
		<div class="line">
			{steps.map((step, index) => (
				<Button key={step.role} class="link" onClick={() => cut(step, index)}>
					Remove derivation of <PhraseText phrases={[{ name: step.role }]} />
				</Button>
			))}
		</div>
	);
}

function ColumnLink({ column }: { readonly column: MatrixColumn }) {
	if (column.kind === 'user_set') {
		return (
			<p>
				<a href={screenPath(`condition-sets/${column.key}`)}>Preview the set</a>
			</p>
		);
	}
	const { key, resource } = column;
	return (
		<p class="line">
			{resource === null ? (
				<a href={screenPath('directory/users', { role: key })}>Users with this role</a>
			) : (
				<a href={screenPath('directory/instances', { resource })}>Instances of this resource</a>
			)}
			<a href={screenPath(modelPath(resource === null ? { page: 'roles' } : { page: 'resource', key: resource }))}>
				View the role in the model
			</a>
		</p>
	);
}
