import test from 'ava';
import { RoleCalls } from '../../src/domain/check-limit/role-calls.js';

/** Maximum number of calls of the role `account.payer` in a check. This number limits the conditional assignments. */

interface Case {
	/** Derivations in the form `<type>.<role> < <relation> < <type>.<role>`. A `?` marks blockable derivations. */
	readonly rules?: readonly string[];
	/** Operands of computed roles. */
	readonly computed?: Readonly<Record<string, readonly string[]>>;
	/** Resources with user sets. */
	readonly asked?: readonly string[];
	readonly calls: number;
}

const payer = 'account.payer';
const fromAccount = `bill.payer < of < ${payer}`;
const nested = `${payer} < parent < ${payer}`;
const viewers = (count: number) =>
	Array.from({ length: count }, (_, index) => `bill.viewer < viewer${index} < ${payer}`);

const cases: Readonly<Record<string, Case>> = {
	'a role from which no role is derived': { calls: 1 },
	'roles named by user sets': { asked: ['account'], calls: 2 },
	'a derived role': { rules: [fromAccount], calls: 1 },
	'a derived role on a resource with user sets': { rules: [fromAccount], asked: ['bill'], calls: 2 },
	'user sets on a different resource': { rules: [fromAccount], asked: ['other'], calls: 1 },
	'derived roles of a resource': { rules: [fromAccount, ...viewers(1)], calls: 2 },
	'derived roles of different resources': { rules: [fromAccount, `receipt.payer < of < ${payer}`], calls: 1 },
	'several relations': { rules: viewers(8), calls: 8 },
	'a walk, which replaces many calls': { rules: viewers(20), calls: 1 },
	'repeated calls of other roles': { rules: [fromAccount, 'room.a < in < box.a', 'room.b < in < box.a'], calls: 1 },
	'two paths of equal length': {
		rules: [`a.r < of < ${payer}`, `b.r < of < ${payer}`, 'c.r < a < a.r', 'c.r < b < b.r'],
		calls: 2,
	},
	'a computed role without derivations': { computed: { 'account.both': [payer, 'account.owner'] }, calls: 2 },
	'repeated operands': { computed: { 'account.both': [payer, payer, 'account.owner', payer] }, calls: 4 },
	'nested computed roles': {
		computed: { 'account.outer': ['account.both', 'account.both'], 'account.both': [payer, payer] },
		calls: 1 + 2 + 4,
	},
	'computed roles with user sets': { computed: { 'account.both': [payer, payer] }, asked: ['account'], calls: 6 },
	'a computed role with a derived operand': {
		rules: [fromAccount],
		computed: { 'bill.both': ['bill.payer', 'bill.payer'] },
		calls: 3,
	},
	'a cycle with closures': { rules: [nested], calls: 2 },
	'a cycle with closures, from outside': { rules: [nested, fromAccount], calls: 2 },
	'a cycle with walks': { rules: [`${nested}?`], calls: 1 },
	'a source of a cycle': { rules: ['bill.payer < parent < bill.payer', fromAccount], calls: 1 },
	'a blockable source of a cycle': {
		rules: ['bill.payer < parent < bill.payer', `${fromAccount}?`],
		calls: 2,
	},
	'a cycle of two roles': { rules: [`${payer} < of < account.owner`, `account.owner < of < ${payer}`], calls: 3 },
};

for (const [title, { rules = [], computed = {}, asked = [], calls }] of Object.entries(cases)) {
	test(`counts ${calls} calls for ${title}`, (t) => {
		const resourceOf = (role: string) => role.split('.')[0] ?? '';
		const derivations = rules.map((text) => {
			const [role_id = '', relation, source_role_id = ''] = text.replace('?', '').split(' < ');
			return {
				...{
					role_id,
					resource_id: resourceOf(role_id),
					source_role_id,
					relation_id: `${resourceOf(role_id)}.${relation}`,
				},
				...{ no_direct_roles_on_object: text.endsWith('?'), asked_by_sets: false },
			};
		});
		const expressions = Object.entries(computed).map(([role_id, operand_ids]) => {
			return { role_id, resource_id: resourceOf(role_id), operand_ids };
		});
		t.is(new RoleCalls(derivations, expressions).mostTo(payer, 'account', new Set(asked)), calls);
	});
}
