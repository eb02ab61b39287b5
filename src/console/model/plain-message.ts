/** The API's text for an unknown id or key. Its wording is part of the wire format. */
const unknownObject = /could not find '([^']+)' with the given filters: id='(.*)'/g;

/** Rewrites the wire format's text for an unknown object in an API message. */
export function plainMessage(message: string): string {
	return message.replace(
		unknownObject,
		(_, kind: string, reference: string) => `${kindWords(kind)} \`${reference}\` does not exist`,
	);
}

/** Splits a type name: `ResourceInstance` becomes `Resource instance`. Keeps abbreviations. */
function kindWords(kind: string): string {
	const [first = '', ...others] = kind.split(/(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/);
	return [first === 'Api' ? 'API' : first, ...others.map((word) => word.toLowerCase())].join(' ');
}
