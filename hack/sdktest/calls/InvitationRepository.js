// Invitations to communities.

// invited returns an invitation of the user by bob.
async function invited(t) {
  const { data } = await t.bob.call('CommunityRepository.createCommunity', { displayName: t.name('Guests'), isPublic: true });
  const { invitations } = await t.bob.request('POST', '/api/v1/invitations', {
    type: 'communityMemberInvite', targetType: 'community', targetId: data.communityId, userIds: [t.me],
  });
  return { ...invitations[0], communityId: data.communityId };
}

// own returns a live community of the user, whose methods invite.
async function own(t) {
  const { communityId } = await t.newCommunity();
  const live = t.watch(callback => t.raw.CommunityRepository.getCommunity(communityId, callback));
  return (await live.until('the community', ({ data }) => data)).data;
}

async function mine(t, { communityId }) {
  const live = t.watch(callback => t.raw.InvitationRepository.getMyCommunityInvitations({ statuses: ['pending'] }, callback));
  const { data } = await live.until('the invitation', ({ data }) => data.some(({ targetId }) => targetId === communityId));
  return data.find(({ targetId }) => targetId === communityId);
}

module.exports = {
  'InvitationRepository.getMyCommunityInvitations': async t => {
    const { communityId } = await invited(t);
    const live = t.watch(callback => t.sdk.InvitationRepository.getMyCommunityInvitations({ statuses: ['pending'] }, callback));
    await live.until('the invitation', ({ data }) => data.some(({ targetId }) => targetId === communityId));
  },
  'InvitationRepository.cancelInvitation': async t => {
    const community = await own(t);
    await community.createInvitations([t.bob.id]);
    const { invitations } = await t.request('GET', `/api/v1/invitations?type=communityMemberInvite&targetType=community&targetId=${community.communityId}`);
    t.equal(await t.sdk.InvitationRepository.cancelInvitation(invitations[0]._id), true);
    const { invitations: left } = await t.request('GET', `/api/v1/invitations?type=communityMemberInvite&targetType=community&targetId=${community.communityId}&statuses[]=pending`);
    t.equal(left.length, 0);
  },
  'InvitationRepository.onLocalInvitationCreated': async t => {
    const community = await own(t);
    await t.listen('InvitationRepository.onLocalInvitationCreated', () => community.createInvitations([t.bob.id]), invitations => invitations.length === 1);
  },
  'InvitationRepository.onLocalInvitationUpdated': async t => {
    const invitation = await mine(t, await invited(t));
    await t.listen('InvitationRepository.onLocalInvitationUpdated', () => invitation.accept(), invitations => invitations.length === 1);
  },
  'InvitationRepository.onLocalInvitationCanceled': async t => {
    const community = await own(t);
    const live = t.watch(callback => community.getMemberInvitations({}, callback));
    await community.createInvitations([t.bob.id]);
    const { data } = await live.until('the invitation', ({ data }) => data.length === 1);
    await t.listen('InvitationRepository.onLocalInvitationCanceled', () => t.raw.InvitationRepository.cancelInvitation(data[0]._id), invitations => invitations.length === 1);
  },
  'InvitationRepository.getInvitations': async t => {
    const { data: room } = await t.raw.RoomRepository.createRoom({ title: t.name('Camp'), type: 'coHosts' });
    await t.post({ dataType: 'room', data: { text: 'Watch', roomId: room.roomId } });
    await t.subscribe(t.raw.getRoomStreamerTopic(room));
    const watch = t.watch(callback => t.sdk.InvitationRepository.getInvitations({ targetType: 'room', targetId: room.roomId }, callback));
    await t.request('POST', '/api/v1/invitations', { type: 'livestreamCohostInvite', targetType: 'room', targetId: room.roomId, userIds: [t.bob.id] });
    await watch.heard('the invitation', invitations => invitations.length === 1);
  },
};
