import type { Place } from './management.js';

/** Lets a resource role be assigned under a condition that never holds. Returns the condition for an assignment. */
export async function declareNever({ http, schema }: Place, role: string): Promise<{ readonly set: string }> {
	const set = { key: 'never', name: 'Never', type: 'grant', conditions: { 'context.never': { equals: true } } };
	const made = await http.post(`${schema}/condition_sets`, set);
	if (![200, 409].includes(made.status)) throw new Error(JSON.stringify(made.body));
	const { status, body } = await http.patch(`${schema}/resources/${role}`, { grant_conditions: [set.key] });
	if (status !== 200) throw new Error(JSON.stringify(body));
	return { set: set.key };
}
