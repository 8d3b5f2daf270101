-- +goose NO TRANSACTION
-- +goose Up
-- An invitation lives with its target: the community, or the room. pending_slot lets a user have one pending invitation to a
-- target; a partial unique index would ask every region.
CREATE TABLE IF NOT EXISTS invitations (
  home              TEXT        NOT NULL,
  id                TEXT        NOT NULL,
  type              TEXT        NOT NULL,
  target_type       TEXT        NOT NULL,
  target_id         TEXT        NOT NULL,
  invited_id        TEXT        NOT NULL,
  invited_public_id TEXT        NOT NULL,
  inviter_id        TEXT        NOT NULL,
  inviter_public_id TEXT        NOT NULL,
  responded_at      TIMESTAMPTZ,
  status            TEXT        NOT NULL,
  created_at        TIMESTAMPTZ NOT NULL,
  updated_at        TIMESTAMPTZ NOT NULL,
  pending_slot      TEXT        NOT NULL GENERATED ALWAYS AS (CASE WHEN status = 'pending' THEN 'p:' || invited_id ELSE 'd:' || id END) STORED{{region}},
  CONSTRAINT invitations_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT invitations_type_check CHECK (type IN ('communityMemberInvite', 'livestreamCohostInvite')),
  CONSTRAINT invitations_target_type_check CHECK (target_type IN ('community', 'room')),
  CONSTRAINT invitations_status_check CHECK (status IN ('pending', 'approved', 'rejected', 'cancelled')),
  CONSTRAINT invitations_pkey PRIMARY KEY (home, id),
  CONSTRAINT invitations_pending UNIQUE (home, target_id, pending_slot)
){{locality}};
CREATE INDEX IF NOT EXISTS invitations_by_target ON invitations (home, target_id, created_at, id);
CREATE INDEX IF NOT EXISTS invitations_by_target_status ON invitations (home, target_id, status, created_at, id);
CREATE INDEX IF NOT EXISTS invitations_by_invited ON invitations (home, invited_id, created_at, id);
CREATE INDEX IF NOT EXISTS invitations_by_invited_kind ON invitations (home, invited_id, type, status, created_at, id);
CREATE INDEX IF NOT EXISTS invitations_by_invited_target ON invitations (home, invited_id, target_id, created_at, id);
