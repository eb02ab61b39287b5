import { useEffect, useRef, useState } from 'preact/hooks';
import type { Json } from '../../../model/json.js';
import { JsonField } from '../../part/field/json-field.js';

/** Condition part that rows cannot express, as JSON. */
export function RawField({ json, onJson }: { readonly json: Json; readonly onJson: (json: Json) => void }) {
	const [text, setText] = useState(() => JSON.stringify(json, null, 2));
	const said = useRef(JSON.stringify(json));
	useEffect(() => {
		const given = JSON.stringify(json);
		if (given === said.current) return;
		said.current = given;
		setText(JSON.stringify(json, null, 2));
	}, [json]);
	return (
		<JsonField
			label="Condition as JSON"
			rows={Math.min(10, text.split('\n').length)}
			text={text}
			onText={(next) => {
				setText(next);
				try {
					const read: Json = JSON.parse(next);
					said.current = JSON.stringify(read);
					onJson(read);
				} catch {
					// The field shows the error, and the previous value is kept.
				}
			}}
		/>
	);
}
