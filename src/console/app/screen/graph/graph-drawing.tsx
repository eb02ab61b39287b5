import { Graph, layout } from '@dagrejs/dagre';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { edgeLabel, nodeLabel, type ShownEdge, type ShownNode } from '../../../model/graph-words.js';

export interface GraphDrawingProps {
	readonly graph: { readonly nodes: readonly ShownNode[]; readonly edges: readonly ShownEdge[] };
	/** Start node id. */
	readonly start: string;
	/** Id of the node to center. */
	readonly center: string;
	/** True if a node's hidden neighbors can be shown. */
	readonly isExpandable: (id: string) => boolean;
	readonly onExpand: (id: string) => void;
	readonly onStart: (id: string) => void;
}

/** Sizes in pixels. Labels use a monospace font. */
const [characterWidth, nodeHeight, padding, margin] = [7.3, 30, 10, 12];

/**
 * Layered graph, drawn from left to right. A click on a node shows its hidden neighbors or, if it has none, starts a
 * new graph from it.
 */
export function GraphDrawing({ graph, start, center, isExpandable, onExpand, onStart }: GraphDrawingProps) {
	const { nodes, edges, width, height } = useMemo(() => drawGraph(graph), [graph]);
	const frame = useRef<HTMLElement>(null);
	useEffect(() => {
		const placed = nodes.find(({ node }) => node.id === center);
		const { current } = frame;
		if (placed === undefined || current === null) return;
		current.scrollTo({ left: placed.x - current.clientWidth / 2, top: placed.y - current.clientHeight / 2 });
	}, [nodes, center]);
	const isHiding = ({ id, more }: ShownNode) => more !== undefined && isExpandable(id);
	const press = (node: ShownNode) => (isHiding(node) ? onExpand(node.id) : onStart(node.id));
	return (
		<section
			ref={frame}
			class="scroll graph-drawing"
			// biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard.
			tabIndex={0}
			aria-label="Graph; the tables below have the same content"
		>
			<svg width={width} height={height}>
				<title>{`${nodes.length} nodes, ${edges.length} connections`}</title>
				<defs>
					<marker id="graph-arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">
						<path d="M0 0 8 4 0 8z" class="graph-arrow" />
					</marker>
				</defs>
				{edges.map(({ name, path, label, x, y }) => (
					<g key={name}>
						<path d={path} class="graph-edge" marker-end="url(#graph-arrow)" />
						<text x={x} y={y - 4} class="graph-label">
							{label}
						</text>
					</g>
				))}
				{nodes.map(({ node, label, x, y, boxWidth }) => (
					// biome-ignore lint/a11y/useSemanticElements: an SVG drawing cannot contain an HTML button.
					<g
						key={node.id}
						role="button"
						// SVG attributes are case-sensitive.
						tabindex={0}
						class={`graph-node graph-${node.kind}${node.id === start ? ' graph-start' : ''}`}
						aria-label={[
							label,
							node.id === start ? ', start' : '',
							node.more === undefined ? '' : `, ${node.more} more`,
							isHiding(node) ? ': show more' : ': start from here',
						].join('')}
						onClick={() => press(node)}
						onKeyDown={(event) => {
							if (event.key !== 'Enter' && event.key !== ' ') return;
							event.preventDefault();
							press(node);
						}}
					>
						<rect x={x - boxWidth / 2} y={y - nodeHeight / 2} width={boxWidth} height={nodeHeight} rx={6} />
						<text x={x} y={y + 4}>
							{label}
						</text>
						{node.more !== undefined && (
							<text x={x + boxWidth / 2} y={y - nodeHeight / 2 - 3} class="graph-more">
								+{node.more}
							</text>
						)}
					</g>
				))}
				{nodes
					.filter(({ node }) => node.id === start)
					.map(({ x, y, boxWidth }) => (
						<text key="start" x={x - boxWidth / 2} y={y - nodeHeight / 2 - 3} class="graph-mark">
							start
						</text>
					))}
			</svg>
		</section>
	);
}

function drawGraph({ nodes, edges }: GraphDrawingProps['graph']) {
	const drawing = new Graph({ multigraph: true });
	drawing.setGraph({ rankdir: 'LR', nodesep: 22, ranksep: 90, marginx: margin, marginy: margin + 8 });
	drawing.setDefaultEdgeLabel(() => ({}));
	for (const node of nodes) {
		const width = nodeLabel(node).length * characterWidth + 2 * padding;
		drawing.setNode(node.id, { width, height: nodeHeight });
	}
	const known = new Set(nodes.map(({ id }) => id));
	const drawn = edges.filter(({ from, to }) => known.has(from) && known.has(to));
	for (const [index, edge] of drawn.entries()) {
		const width = edgeLabel(edge).length * (characterWidth - 1);
		drawing.setEdge(edge.from, edge.to, { width, height: 14, labelpos: 'c' }, String(index));
	}
	layout(drawing);
	const { width = 0, height = 0 } = drawing.graph();
	return {
		width: Math.ceil(width),
		height: Math.ceil(height),
		nodes: nodes.map((node) => {
			const { x, y, width: boxWidth } = drawing.node(node.id);
			return { node, label: nodeLabel(node), x, y, boxWidth };
		}),
		edges: drawn.map((edge, index) => {
			const { points, x = 0, y = 0 } = drawing.edge(edge.from, edge.to, String(index));
			return { name: String(index), path: polyline(points), label: edgeLabel(edge), x, y };
		}),
	};
}

interface Point {
	readonly x: number;
	readonly y: number;
}

function polyline(points: readonly Point[]): string {
	return points.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`).join('');
}
