package controllers

import (
	"github.com/plaza-social/plaza/controllers/backup"
	"github.com/plaza-social/plaza/controllers/evacuation"
	"github.com/plaza-social/plaza/controllers/keys"
	"github.com/plaza-social/plaza/controllers/moderation"
	"github.com/plaza-social/plaza/controllers/monitoring"
	"github.com/plaza-social/plaza/controllers/placement"
	"github.com/plaza-social/plaza/controllers/rollout"
	"github.com/plaza-social/plaza/controllers/schema"
	"github.com/plaza-social/plaza/controllers/stage"
	"github.com/plaza-social/plaza/controllers/sweep"
	"github.com/plaza-social/plaza/controllers/webhooks"
)

// stages returns the stages in the order in which they run. The sweep is last, so that replacements exist before the
// objects that they replace are deleted.
func (r *Reconciler) stages() []stage.Stage {
	return []stage.Stage{
		keys.Stage{},
		evacuation.Stage{},
		schema.Stage{},
		rollout.Stage{},
		moderation.Stage{},
		webhooks.Stage{},
		monitoring.Stage{},
		placement.Stage{},
		backup.Stage{},
		sweep.Stage{Keep: monitoring.Objects},
	}
}
