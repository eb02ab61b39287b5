import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type GraphQuestion, graphModes, isMode } from '../../../model/graph-question.js';
import { Combobox } from '../../part/field/combobox.js';
import { proposeNodes } from './propose-nodes.js';

interface GraphFormProps {
	readonly question: GraphQuestion;
	readonly onAsk: (question: Omit<GraphQuestion, 'expand'>) => void;
}

/** Form for the mode and the start node. */
export function GraphForm({ question, onAsk }: GraphFormProps) {
	const from = useSignal(question.from);
	const to = useSignal(question.to);
	const mode = useSignal(question.mode);
	const depth = useSignal(question.depth);
	// The URL may change without typing: by "back", or by a click on a node.
	useEffect(() => {
		from.value = question.from;
		to.value = question.to;
		mode.value = question.mode;
		depth.value = question.depth;
	}, [question.from, question.to, question.mode, question.depth]);
	const isPath = mode.value === 'path';
	return (
		<form
			class="columns"
			onSubmit={(event) => {
				event.preventDefault();
				onAsk({
					from: from.value.trim(),
					to: isPath ? to.value.trim() : '',
					mode: mode.value,
					depth: depth.value,
				});
			}}
		>
			<label>
				<span>Show</span>
				<select
					value={mode.value}
					onChange={(event) => {
						const chosen = event.currentTarget.value;
						mode.value = isMode(chosen) ? chosen : 'facts';
					}}
				>
					{Object.entries(graphModes).map(([value, { title }]) => (
						<option key={value} value={value}>
							{title}
						</option>
					))}
				</select>
			</label>
			<Combobox
				label="From"
				value={from.value}
				onValue={(text) => {
					from.value = text;
				}}
				propose={(text, signal) => proposeNodes(mode.value, text, signal)}
				required
			/>
			{isPath ? (
				<Combobox
					label="To"
					value={to.value}
					onValue={(text) => {
						to.value = text;
					}}
					propose={(text, signal) => proposeNodes('path', text, signal)}
					required
				/>
			) : (
				<label>
					<span>Steps</span>
					<select
						value={depth.value}
						onChange={(event) => {
							depth.value = event.currentTarget.value;
						}}
					>
						<option value="1">1</option>
						<option value="2">2</option>
						<option value="3">3</option>
					</select>
				</label>
			)}
			<button type="submit" class="primary">
				Show
			</button>
		</form>
	);
}
