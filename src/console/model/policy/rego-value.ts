/** A value in Rego: keys are data of the environment, so objects are lists of members, which hold any key. */
export type RegoValue =
	| { readonly members: ReadonlyMap<string, RegoValue> }
	/** JSON as it is. */
	| { readonly json: unknown };

/** The value as Rego, as `opa fmt` prints it. `depth` is that of the line it begins on. */
export function regoText(value: RegoValue, depth = 0): string {
	if ('json' in value) return jsonText(value.json, depth);
	const lines = Array.from(
		value.members,
		([key, member]) => `${tabs(depth + 1)}${stringText(key)}: ${regoText(member, depth + 1)},\n`,
	);
	return lines.length === 0 ? '{}' : `{\n${lines.join('')}${tabs(depth)}}`;
}

function jsonText(value: unknown, depth: number): string {
	if (typeof value === 'string') return stringText(value);
	if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
	if (!Array.isArray(value)) {
		return regoText({ members: new Map(Object.entries(value).map(([key, json]) => [key, { json }])) }, depth);
	}
	const items = value.map((item) => `${tabs(depth + 1)}${jsonText(item, depth + 1)},\n`);
	return items.length === 0 ? '[]' : `[\n${items.join('')}${tabs(depth)}]`;
}

/** Half a surrogate pair, which no file in UTF-8 can hold. */
const loneSurrogate = /\p{Surrogate}/gu;
/** What editors and terminals act on, or do not show. */
const unprintable = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** A text as a string of Rego, on one line. Nothing in it can end the string. */
export function stringText(text: string): string {
	const json = JSON.stringify(text.replaceAll(loneSurrogate, '\ufffd'));
	return json.replaceAll(unprintable, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function tabs(depth: number): string {
	return '\t'.repeat(depth);
}
