/** Rego value. An object is represented as a list of members, because its keys are user data and may be any text. */
export type RegoValue =
	| { readonly members: ReadonlyMap<string, RegoValue> }
	/** JSON, written unchanged. */
	| { readonly json: unknown };

/** Formats a value in the style of `opa fmt`. `depth` is the indentation of the first line. */
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

/** Half a surrogate pair, which UTF-8 cannot encode. */
const loneSurrogate = /\p{Surrogate}/gu;
/** Characters that editors and terminals interpret or hide. */
const unprintable = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Formats a string as a Rego string on one line. No character can end the Rego string early. */
export function stringText(text: string): string {
	const json = JSON.stringify(text.replaceAll(loneSurrogate, '\ufffd'));
	return json.replaceAll(unprintable, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function tabs(depth: number): string {
	return '\t'.repeat(depth);
}
