package store_test

var _ = planned((*collector).collectBacklog,
	`UPDATE outbox SET attempts = 3 WHERE id LIKE '%0'`,
	`UPDATE scheduled_posts SET attempts = 3 WHERE status = 'WAIT' AND id LIKE '%0'`,
)

func (c *collector) collectBacklog() {
	for _, name := range []string{"outbox.first4", "scheduledPosts.first4", "scheduledPosts.firstFailed4"} {
		c.byName(name, "us", int64(0), int64(1), int64(2), int64(-1))
	}
}
