import { answered, management } from '../../api.js';
import { Empty } from '../../part/empty.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { Screen } from '../../part/screen.js';
import { environmentPath } from '../../session.js';
import { useLoaded } from '../../use-loaded.js';
import { useSearch } from '../../use-search.js';
import { GraphForm } from './graph-form.js';
import { type GraphQuestion, graphModes, readGraphQuestion } from './graph-question.js';
import { GraphTables } from './graph-tables.js';
import { LazyDrawing } from './lazy-drawing.js';

/** The relationship graph screen: relationships around a user or an object. */
export function GraphScreen() {
	const search = useSearch();
	const question = readGraphQuestion(search.get);
	return (
		<Screen
			title="Relationship graph"
			about="Explore the connections of a user, tenant or instance, the schema, or the path between two objects."
		>
			<GraphForm question={question} onAsk={(asked) => search.set({ ...asked })} />
			{question.from === '' || (question.mode === 'path' && question.to === '') ? (
				<Empty title="Choose a start node">
					<p>{graphModes[question.mode].hint}</p>
				</Empty>
			) : (
				<AskedGraph question={question} onStart={(from) => search.set({ from, to: '' })} />
			)}
		</Screen>
	);
}

interface AskedGraphProps {
	readonly question: GraphQuestion;
	readonly onStart: (id: string) => void;
}

function AskedGraph({ question, onStart }: AskedGraphProps) {
	const { from, to, mode, depth } = question;
	const loaded = useLoaded(
		(signal) => {
			const query = { from, mode, ...(mode === 'path' ? { to } : { depth: Number(depth) }) };
			return answered(
				management.GET('/v2/projects/{proj_id}/envs/{env_id}/graph', {
					params: { path: environmentPath(), query },
					signal,
				}),
			);
		},
		[from, to, mode, depth],
	);
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
							<p class="notice">Not everything is shown. Start from a different node, or use fewer steps.</p>
						)}
						{graph.nodes.length > 0 && (
							<>
								<LazyDrawing graph={graph} start={from} onStart={onStart} />
								<GraphTables graph={graph} onStart={onStart} />
							</>
						)}
					</>
				)
			}
		</LoadedFrame>
	);
}
