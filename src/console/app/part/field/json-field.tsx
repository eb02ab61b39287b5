import { useId } from 'preact/hooks';
import { jsonProblem } from '../../../model/json-problem.js';

interface JsonFieldProps {
	readonly label: string;
	readonly text: string;
	readonly onText: (text: string) => void;
	readonly rows?: number;
	/** Problem other than invalid JSON. */
	readonly problem?: string | null;
	readonly readOnly?: boolean;
}

/** JSON field that shows syntax errors. Empty text means no value. */
export function JsonField({ label, text, onText, rows = 3, problem = null, readOnly = false }: JsonFieldProps) {
	const id = useId();
	const shown = (text.trim() === '' ? null : jsonProblem(text)) ?? problem;
	return (
		<label>
			<span>{label}</span>
			<textarea
				class="code"
				rows={rows}
				value={text}
				spellcheck={false}
				readOnly={readOnly}
				aria-invalid={shown !== null}
				aria-describedby={shown === null ? undefined : id}
				onInput={(event) => onText(event.currentTarget.value)}
			/>
			{shown !== null && (
				<span id={id} class="failure" role="status">
					{shown}
				</span>
			)}
		</label>
	);
}
