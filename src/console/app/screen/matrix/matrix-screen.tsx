import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { toggleGrant } from '../../../model/matrix/matrix-edit.js';
import { type Fold, type MatrixRow, matrixView, withFold } from '../../../model/matrix/matrix-view.js';
import { cellLabel } from '../../../model/matrix/matrix-words.js';
import { type MatrixColumn, policyMatrix } from '../../../model/matrix/policy-matrix.js';
import { readPolicySchema } from '../../../model/matrix/policy-schema.js';
import { draftedSchema } from '../../../model/schema/drafted-schema.js';
import { announce } from '../../../part/announce.js';
import { setter } from '../../../part/setter.js';
import { currentDraft, editDraft } from '../../current-draft.js';
import { DraftNotice } from '../../part/draft-notice.js';
import { Empty } from '../../part/empty.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { Screen } from '../../part/screen.js';
import { type ReadSchema, readSchema } from '../../read-schema.js';
import { screenPath } from '../../screen-path.js';
import { mayWrite } from '../../session.js';
import { useLoaded } from '../../use-loaded.js';
import { type Search, useSearch } from '../../use-search.js';
import { CellPanel } from './cell-panel.js';
import { MatrixFilters, readColumnKind } from './matrix-filters.js';
import { focusPlace, type GridPlace, MatrixGrid } from './matrix-grid.js';
import { MatrixLegend } from './matrix-legend.js';

/** The matrix screen: permissions by role and by condition set. */
export function MatrixScreen() {
	const loaded = useLoaded(readSchema, []);
	return (
		<Screen
			title="Policy matrix"
			about={
				mayWrite.value
					? 'Permissions by role and condition set. Select a cell to change it. Changes go to a draft and take effect when you publish it.'
					: 'Permissions by role and condition set.'
			}
		>
			<LoadedFrame loaded={loaded}>{(schema) => <Matrix schema={schema} />}</LoadedFrame>
		</Screen>
	);
}

function Matrix({ schema: { objects, revision } }: { readonly schema: ReadSchema }) {
	const search = useSearch();
	const draft = currentDraft.value;
	const stored = useMemo(() => policyMatrix(readPolicySchema(objects)), [objects]);
	const matrix = useMemo(
		() => (draft === null ? stored : policyMatrix(readPolicySchema(draftedSchema(objects, draft)))),
		[objects, draft],
	);
	const fold = readFold(search);
	const filter = { resource: search.get('resource'), role: search.get('role'), kind: readColumnKind(search), fold };
	const view = useMemo(() => matrixView(matrix, filter), [matrix, JSON.stringify(filter)]);
	const { rows, columns } = view;
	const wantsPanel = useSignal(0);
	const place = useSignal<GridPlace>({ row: 1, column: 0 });
	const active = {
		row: Math.max(0, Math.min(place.value.row, rows.length - 1)),
		column: Math.max(0, Math.min(place.value.column, columns.length - 1)),
	};
	const [row, column] = [rows[active.row], columns[active.column]];
	const leadToPanel = () => {
		wantsPanel.value += 1;
	};
	const edit = (wanted: MatrixRow, target: MatrixColumn) => {
		const { resource, action } = wanted;
		if (action === null) return;
		if (target.kind === 'user_set') return leadToPanel();
		editDraft(revision, (begun) => toggleGrant(objects, begun, target, { resource, action }));
		const after = policyMatrix(readPolicySchema(draftedSchema(objects, currentDraft.value)));
		announce(
			`Draft updated: ${cellLabel(target, { resource, action }, after.cell(target, { resource, action }), null)}`,
		);
	};
	if (matrix.schema.resources.size === 0) return <NoResources />;
	return (
		<>
			<DraftNotice />
			<MatrixFilters resources={matrix.schema.resources.size} fold={fold} shown={view} />
			<div class="matrix-layout">
				<div class="matrix-main">
					{columns.length === 0 || rows.length === 0 ? (
						<NothingFound hasColumns={columns.length > 0} />
					) : (
						<MatrixGrid
							rows={rows}
							columns={columns}
							matrix={matrix}
							stored={draft === null ? null : stored}
							fold={fold}
							active={active}
							onMove={setter(place)}
							onFold={(resource) => writeFold(search, withFold(fold, resource))}
							onEdit={edit}
							onDetails={leadToPanel}
							mayWrite={mayWrite.value}
						/>
					)}
					<MatrixLegend />
				</div>
				{row !== undefined && column !== undefined && (
					<CellPanel
						row={row}
						column={column}
						matrix={matrix}
						stored={draft === null ? null : stored}
						objects={objects}
						revision={revision}
						focusTurn={wantsPanel.value}
						onLeave={() => focusPlace(document.querySelector<HTMLElement>('.matrix-grid'), active)}
					/>
				)}
			</div>
		</>
	);
}

function NoResources() {
	return (
		<Empty title="No resources yet" docs={{ page: 'policy/console#the-policy-matrix', title: 'The policy matrix' }}>
			<p>
				The matrix has a row for each action and a column for each role.{' '}
				<a href={screenPath('model')}>Create resources and roles in the model</a>.
			</p>
		</Empty>
	);
}

function NothingFound({ hasColumns }: { readonly hasColumns: boolean }) {
	return (
		<Empty title={hasColumns ? 'No matching resources or actions' : 'No matching roles or user sets'}>
			<p>
				Filter by key or name, or by action, such as <code>document:read</code>.{' '}
				<a href={screenPath('matrix')}>Clear filters</a>, or <a href={screenPath('model')}>add to the model</a>.
			</p>
		</Empty>
	);
}

/** Reads the collapsed resources from the address. Keys contain no commas. */
function readFold(search: Search): Fold {
	const except = search.get('except');
	return { all: search.get('fold') === 'all', except: except === '' ? [] : except.split(',') };
}

/** Stores the collapsed resources in the address. */
function writeFold(search: Search, { all, except }: Fold): void {
	search.set({ fold: all ? 'all' : '', except: except.join(',') }, { replace: true });
}
