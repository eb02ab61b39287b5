/** Environment documents in docs/samples. Each is a separate file in the build, loaded on demand. */
export const samples: readonly Sample[] = [
	{
		title: 'Documents and folders',
		about: 'Roles inherited from folders, a role for a whole tenant, conditions on a classification.',
		read: () => import('../../../../../docs/samples/documents.json'),
	},
	{
		title: 'Code hosting',
		about: 'Organizations, nested teams, repositories and issues. Teams get roles on repositories.',
		read: () => import('../../../../../docs/samples/code-hosting.json'),
	},
	{
		title: 'Code review',
		about: 'Pull requests, merged by senior approvers who are neither the author nor suspended.',
		read: () => import('../../../../../docs/samples/code-review.json'),
	},
	{
		title: 'Shared documents',
		about: 'Documents for viewers who are not blocked, published by editors who are also approvers.',
		read: () => import('../../../../../docs/samples/shared-documents.json'),
	},
	{
		title: 'Team wiki',
		about: 'Pages and spaces shared with teams, nested teams, and team leads.',
		read: () => import('../../../../../docs/samples/team-wiki.json'),
	},
	{
		title: 'Expenses',
		about: 'Cost centers whose approvers have a spending limit or allowed networks.',
		read: () => import('../../../../../docs/samples/expenses.json'),
	},
	{
		title: 'SaaS with plans',
		about: 'Features by tenant plan, spending limits, projects by region.',
		read: () => import('../../../../../docs/samples/saas-plans.json'),
	},
];

export interface Sample {
	readonly title: string;
	readonly about: string;
	/** Loads the environment document. */
	readonly read: () => Promise<{ readonly default: unknown }>;
}
