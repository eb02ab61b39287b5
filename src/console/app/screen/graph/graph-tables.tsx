import { edgeLabel, nodeKind, type ShownEdge, type ShownNode } from '../../../model/graph-words.js';
import { Button } from '../../../part/button.js';
import { KeyText } from '../../part/key-text.js';
import { NameText } from '../../part/name-text.js';
import { FoldedTable } from '../../part/table/data-table.js';
import { TimeText } from '../../part/time-text.js';

interface ListedEdge extends ShownEdge {
	readonly expires_at?: string | undefined;
	readonly tenant?: string | undefined;
}

interface GraphTablesProps {
	readonly graph: {
		readonly nodes: readonly ShownNode[];
		readonly edges: readonly ListedEdge[];
		/** Paths. Each path is a list of indexes into `edges`. */
		readonly paths: readonly (readonly number[])[];
	};
	/** True if a node's hidden neighbors can be shown. */
	readonly isExpandable: (id: string) => boolean;
	readonly onExpand: (id: string) => void;
	readonly onStart: (id: string) => void;
}

/** The drawing as text: paths, connections and nodes. */
export function GraphTables({ graph, isExpandable, onExpand, onStart }: GraphTablesProps) {
	const { nodes, edges, paths } = graph;
	return (
		<>
			{paths.length > 0 && (
				<>
					<h2>Paths, shortest first</h2>
					<ol>
						{paths.map((path) => (
							<li key={path.join()}>
								<PathText edges={path.flatMap((place) => edges[place] ?? [])} />
							</li>
						))}
					</ol>
				</>
			)}
			<h2>Connections</h2>
			<FoldedTable
				caption="Connections"
				rows={edges.map((edge, index) => ({ ...edge, index }))}
				rowKey={({ index }) => String(index)}
				columns={[
					{ title: 'From', cell: ({ from }) => <KeyText text={from} /> },
					{ title: 'Type', cell: ({ kind }) => kind.replaceAll('_', ' ') },
					{ title: 'Relation or role', cell: (edge) => edgeLabel(edge) },
					{ title: 'To', cell: ({ to }) => <KeyText text={to} /> },
					{ title: 'Tenant', cell: ({ tenant }) => (tenant === undefined ? '' : <KeyText text={tenant} />) },
					{
						title: 'Expires',
						cell: ({ expires_at }) => (expires_at === undefined ? '' : <TimeText at={expires_at} />),
					},
				]}
			/>
			<h2>Nodes</h2>
			<FoldedTable
				caption="Nodes by distance from the start"
				rows={nodes}
				rowKey={({ id }) => id}
				columns={[
					{
						title: 'Node',
						cell: ({ id }) => (
							<Button class="link" onClick={() => onStart(id)}>
								<KeyText text={id} />
							</Button>
						),
					},
					{ title: 'Type', cell: ({ kind, type }) => nodeKind(kind, type) },
					{ title: 'Name', cell: ({ name }) => (name === undefined ? '' : <NameText text={name} />) },
					{ title: 'Tenant', cell: ({ tenant }) => (tenant === undefined ? '' : <KeyText text={tenant} />) },
					{
						title: 'Hidden neighbors',
						align: 'end',
						cell: ({ id, more }) => {
							if (more === undefined) return '';
							if (!isExpandable(id)) return `+${more}`;
							return (
								<Button class="link" aria-label={`Show ${more} more of ${id}`} onClick={() => onExpand(id)}>
									+{more}
								</Button>
							);
						},
					},
				]}
			/>
		</>
	);
}

function PathText({ edges }: { readonly edges: readonly ShownEdge[] }) {
	return (
		<>
			<KeyText text={edges[0]?.from ?? ''} />
			{edges.map((edge) => (
				<span key={`${edge.from} ${edge.to} ${edge.kind}`}>
					{' '}
					— {edgeLabel(edge)} → <KeyText text={edge.to} />
				</span>
			))}
		</>
	);
}
