import {
	expandedText,
	type GraphQuestion,
	graphModes,
	maxExpanded,
	readGraphQuestion,
} from '../../../model/graph-question.js';
import { management } from '../../api.js';
import { Empty } from '../../part/empty.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { Screen } from '../../part/screen.js';
import { useLoaded } from '../../use-loaded.js';
import { useSearch } from '../../use-search.js';
import { GraphForm } from './graph-form.js';
import { GraphTables } from './graph-tables.js';
import { LazyDrawing } from './lazy-drawing.js';

/** Maximum number of nodes at first, and of nodes that an expanded node adds. */
const nodesAtOnce = 40;

/** The relationship graph screen: relationships around a user or an object. */
export function GraphScreen() {
	const search = useSearch();
	const question = readGraphQuestion(search.get);
	return (
		<Screen
			title="Relationship graph"
			about="Explore the connections of a user, tenant or instance, the schema, or the path between two objects."
		>
			<GraphForm question={question} onAsk={(asked) => search.set({ ...asked, expand: '' })} />
			{question.from === '' || (question.mode === 'path' && question.to === '') ? (
				<Empty title="Choose a start node" docs={{ page: 'policy/graph', title: 'Graphs and effective roles' }}>
					<p>{graphModes[question.mode].hint}</p>
				</Empty>
			) : (
				<AskedGraph
					question={question}
					// A path needs two ends, so choosing a new start node leaves the path mode.
					onStart={(from) => search.set({ from, to: '', expand: '', ...(question.mode === 'path' && { mode: '' }) })}
					onExpand={(id) => search.set({ expand: expandedText([...question.expand, id]) })}
				/>
			)}
		</Screen>
	);
}

interface AskedGraphProps {
	readonly question: GraphQuestion;
	readonly onStart: (id: string) => void;
	/** Shows the hidden neighbors of a node. */
	readonly onExpand: (id: string) => void;
}

function AskedGraph({ question, onStart, onExpand }: AskedGraphProps) {
	const { from, to, mode, depth, expand } = question;
	const loaded = useLoaded(
		(signal) => {
			const more = { depth: Number(depth), limit: nodesAtOnce, expand: [...expand] };
			const query = { from, mode, ...(mode === 'path' ? { to } : more) };
			return management.get('/v2/projects/{proj_id}/envs/{env_id}/graph', { query, signal });
		},
		[from, to, mode, depth, expandedText(expand)],
	);
	const isExpandable = (id: string) => mode !== 'path' && expand.length < maxExpanded && !expand.includes(id);
	return (
		<LoadedFrame loaded={loaded}>
			{(graph) =>
				mode === 'path' && graph.paths.length === 0 ? (
					<p role="status">
						<strong>No path found.</strong>
						{graph.truncated && ' The search reached its limit, so a path may exist.'}
					</p>
				) : (
					<>
						{graph.truncated && graph.nodes.length > 0 && (
							<p class="notice">
								Some nodes are hidden. The number on a node counts its hidden neighbors. Click the node to show more of
								them.
							</p>
						)}
						{graph.nodes.length > 0 && (
							<>
								<LazyDrawing
									graph={graph}
									start={from}
									center={expand.at(-1) ?? from}
									isExpandable={isExpandable}
									onExpand={onExpand}
									onStart={onStart}
								/>
								<GraphTables graph={graph} isExpandable={isExpandable} onExpand={onExpand} onStart={onStart} />
							</>
						)}
					</>
				)
			}
		</LoadedFrame>
	);
}
