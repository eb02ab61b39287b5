import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type GraphQuestion, graphModes } from '../../../model/graph-question.js';
import { SelectField } from '../../../part/select-field.js';
import { bound } from '../../../part/setter.js';
import { Combobox } from '../../part/field/combobox.js';
import { proposeNodes } from './propose-nodes.js';

const { facts, schema, path } = graphModes;
const modeTitles = { facts: facts.title, schema: schema.title, path: path.title };

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
			<SelectField label="Show" {...bound(mode)} options={modeTitles} />
			<Combobox
				label="From"
				{...bound(from)}
				propose={(text, signal) => proposeNodes(mode.value, text, signal)}
				required
			/>
			{isPath ? (
				<Combobox label="To" {...bound(to)} propose={(text, signal) => proposeNodes('path', text, signal)} required />
			) : (
				<SelectField label="Steps" {...bound(depth)} options={{ 1: '1', 2: '2', 3: '3' }} />
			)}
			<button type="submit" class="primary">
				Show
			</button>
		</form>
	);
}
