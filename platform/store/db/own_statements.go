package db

import (
	"slices"

	"github.com/plaza-social/plaza/platform/limits"
)

// OwnStatements returns the statements of sessions, transactions and migrations, which are not registered because they concern no home,
// for the check against CockroachDB.
func OwnStatements() []string {
	own := []string{
		sqlBegin, sqlBeginReadCommitted, sqlWaitForLocks, sqlCommit, sqlRollback, sqlLastStep, sqlUnknownStep, sqlIdentities, sqlIdentityStamp,
		sqlGrantees,
	}
	for table, rights := range appendOnly {
		own = append(own, revokeStatement(table, rights, "a role"))
	}
	slices.Sort(own)
	return slices.Concat(own, sessionStatements(limits.Production().ReadLock), scanStatements)
}
