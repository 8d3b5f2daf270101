package rules

import (
	"slices"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
)

// RuleQueue is broken by a read of the first rows of a queue, in an order, that does not name the index. The statistics of a queue are
// usually those of an empty table, and do not tell an index from one that begins with the same columns.
const RuleQueue Rule = "queue-index"

// QueueReads checks the reads of tables whose rows are deleted soon after they were inserted.
func QueueReads(queues []string, statement Statement) []Violation {
	return inspect(nil, statement, func(c *check, ast tree.Statement) {
		eachPage(ast, func(clause *tree.SelectClause) {
			for _, table := range clause.From.Tables {
				t, ok := table.(*tree.AliasedTableExpr)
				if ok && t.IndexFlags == nil && slices.Contains(queues, targetName(t)) {
					c.brokenf(RuleQueue, "name the index of table %s that has this order: %s /*@{FORCE_INDEX=…}*/", targetName(t), targetName(t))
				}
			}
		})
	})
}

// eachPage calls visit with each part of a statement that reads the first rows in an order.
func eachPage(ast tree.Statement, visit func(*tree.SelectClause)) {
	walk(ast, func(node any, _ []any) {
		s, ok := node.(*tree.Select)
		if !ok || s.Limit == nil || len(s.OrderBy) == 0 {
			return
		}
		if clause, ok := s.Select.(*tree.SelectClause); ok {
			visit(clause)
		}
	})
}
