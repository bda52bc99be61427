// SPDX-License-Identifier: MIT OR Apache-2.0
//! Service contexts: tagged data with a request or reply (CORBA 3.3 Part 2,
//! clause 7.7).

use orbium_cdr::{ByteOrder, CdrError, CdrErrorKind, CdrReader, CdrWriter};

use crate::context::time::reply_deadline;
use crate::message::header::{u32_from, u32_octets};

/// Maximum number of service contexts in one message. Known ORBs send a handful; the bound limits
/// the cost of [`ServiceContexts::find`].
pub const MAX_SERVICE_CONTEXTS: usize = 256;

macro_rules! ids {
    ($($name:ident $value:literal $doc:literal;)*) => {
        $(#[doc = $doc] pub const $name: u32 = $value;)*

        /// The name of a service context id, or `None` for an unknown one.
        #[must_use]
        pub const fn name(id: u32) -> Option<&'static str> {
            match id {
                $($name => Some(stringify!($name)),)*
                _ => None,
            }
        }
    };
}

ids! {
    TRANSACTION_SERVICE 0 "Transaction propagation context.";
    CODE_SETS 1 "Negotiated code sets of the connection.";
    CHAIN_BYPASS_CHECK 2 "DCE-COM bridging.";
    CHAIN_BYPASS_INFO 3 "DCE-COM bridging.";
    LOGICAL_THREAD_ID 4 "COM logical thread id.";
    BI_DIR_IIOP 5 "Listen points for bidirectional GIOP.";
    SENDING_CONTEXT_RUN_TIME 6 "Reference of the sender's CodeBase.";
    INVOCATION_POLICIES 7 "Messaging policies of the invocation.";
    FORWARDED_IDENTITY 8 "Firewall identity.";
    UNKNOWN_EXCEPTION_INFO 9 "A Java throwable.";
    RT_CORBA_PRIORITY 10 "CORBA priority of the invocation.";
    RT_CORBA_PRIORITY_RANGE 11 "Range of CORBA priorities.";
    FT_GROUP_VERSION 12 "Version of a fault-tolerant group.";
    FT_REQUEST 13 "Retry identity of a fault-tolerant request.";
    EXCEPTION_DETAIL_MESSAGE 14 "Text beside a system exception.";
    SECURITY_ATTRIBUTE_SERVICE 15 "CSIv2 context.";
    ACTIVITY_SERVICE 16 "Activity context.";
    RMI_CUSTOM_MAX_STREAM_FORMAT 17 "Highest RMI stream format.";
    ACCESS_SESSION_ID 18 "Telecom access session.";
    SERVICE_SESSION_ID 19 "Telecom service session.";
    FIREWALL_PATH 20 "Firewall path.";
    FIREWALL_PATH_RESP 21 "Answer to a firewall path.";
    OMNIORB_RESTRICTED_CONNECTION 0x4154_5404 "omniORB: restricted connection.";
    JACORB_PADDING 0x4A41_4301 "JacORB: filler, means nothing.";
    TAO_FILLER 0x5441_4F00 "TAO: alignment filler, means nothing.";
    ORBIUM_TIME_LEFT 0x4F52_4201 "orbium: time that the request has left.";
    ORBIUM_DEDICATION 0x4F52_4202 "orbium: a thread of the connection's own is asked for, or given.";
    ORBIUM_RIOP 0x4F52_4203 "orbium: RIOP, the quality of service of the request.";
    ORBIUM_EVENT_ORIGIN 0x4F52_4204 "orbium: the channel whose gateway sends events to a group, and their number.";
    ORBIUM_EVENTS_DROPPED 0x4F52_4205 "orbium: events that a channel has dropped since its last push.";
    TAO_REP_NWPRIORITY 0x5441_0005 "TAO: DSCP to be used for the reply.";
}

/// One service context: its id and its octets, usually an encapsulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceContext<'a> {
    /// The context id, which identifies the format of the data.
    pub id: u32,
    /// The data, as on the wire.
    pub data: &'a [u8],
}

/// The service contexts of a received message, borrowed from it.
#[derive(Clone, Copy, Debug)]
pub struct ServiceContexts<'a> {
    /// Validated: the contexts fit exactly.
    octets: &'a [u8],
    form: ListForm,
}

/// The form of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListForm {
    /// The number of contexts.
    count: u32,
    order: ByteOrder,
    /// Whether they follow each other without gaps, because the list was divided into fragments
    /// that are aligned separately.
    is_packed: bool,
}

impl ListForm {
    /// A list as on the wire.
    const fn aligned(count: u32, order: ByteOrder) -> Self {
        Self {
            count,
            order,
            is_packed: false,
        }
    }
}

impl<'a> ServiceContexts<'a> {
    /// No service contexts.
    pub const EMPTY: Self = Self {
        octets: &[],
        form: ListForm::aligned(0, ByteOrder::NATIVE),
    };

    /// Reads and validates a list, so that iteration cannot fail.
    ///
    /// # Errors
    /// [`CdrErrorKind::Truncated`], [`CdrErrorKind::CountTooLarge`] (also for
    /// more than [`MAX_SERVICE_CONTEXTS`]).
    #[inline]
    pub fn read(reader: &mut CdrReader<'a>) -> Result<Self, CdrError> {
        let count = reader.read_u32()?;
        if count == 0 {
            return Ok(Self::EMPTY);
        }
        Self::read_some(reader, count)
    }

    pub(crate) fn read_some(reader: &mut CdrReader<'a>, count: u32) -> Result<Self, CdrError> {
        let (start, order) = (reader.position(), reader.format().order);
        if count as usize > MAX_SERVICE_CONTEXTS || count as usize * 8 > reader.remaining() {
            return Err(reader.error(CdrErrorKind::CountTooLarge));
        }
        let form = ListForm::aligned(count, order);
        let rest = reader.ahead();
        let mut end = 0;
        for _ in 0..count {
            match extent(rest, padded(end), order) {
                Some(next) => end = next,
                None => return Self::read_divided(reader, form, start + end),
            }
        }
        Ok(Self {
            octets: reader.take(end)?,
            form,
        })
    }

    /// Reads a list that does not end before the next boundary of fragments, and closes it up in
    /// place. It is truncated at `end` if there is no boundary.
    #[cold]
    fn read_divided(
        reader: &mut CdrReader<'a>,
        form: ListForm,
        end: usize,
    ) -> Result<Self, CdrError> {
        if reader.boundaries_ahead().is_empty() {
            return Err(CdrError::new(CdrErrorKind::Truncated, end));
        }
        let (contexts, extent) = reader.look_across(|ahead| {
            let unread = ahead.remaining();
            let mut contexts = Vec::with_capacity(form.count as usize);
            for _ in 0..form.count {
                let id = ahead.read_u32()?;
                let len = ahead.read_octets()?.len();
                contexts.push((id, unread - ahead.remaining() - len, len));
            }
            Ok(contexts)
        })?;
        let octets = reader.take(extent)?;
        let mut end = 0;
        for (id, data, len) in contexts {
            octets[end..end + 4].copy_from_slice(&u32_octets(id, form.order));
            octets[end + 4..end + 8].copy_from_slice(&u32_octets(len as u32, form.order));
            octets.copy_within(data..data + len, end + 8);
            end += 8 + len;
        }
        let form = ListForm {
            is_packed: true,
            ..form
        };
        let octets = &octets[..end];
        Ok(Self { octets, form })
    }

    /// The contexts of a [`ReplyDeadline`](crate::time::ReplyDeadline), which was read from
    /// their list, without its count.
    #[inline]
    pub(crate) const fn of_deadline(octets: &'a [u8]) -> Self {
        let form = ListForm::aligned(reply_deadline::CONTEXTS, ByteOrder::NATIVE);
        Self::checked(octets, form)
    }

    /// A list that was read and checked before, from its octets without the count.
    pub(crate) const fn checked(octets: &'a [u8], form: ListForm) -> Self {
        Self { octets, form }
    }

    /// Its octets, without the count.
    pub(crate) const fn octets(&self) -> &'a [u8] {
        self.octets
    }

    /// The form of its octets.
    pub(crate) const fn form(&self) -> ListForm {
        self.form
    }

    /// Whether the list is empty.
    #[must_use]
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.form.count == 0
    }

    /// The number of contexts.
    #[must_use]
    #[inline]
    pub const fn len(&self) -> usize {
        self.form.count as usize
    }

    /// The data of the first context with that id.
    #[must_use]
    #[inline]
    pub fn find(&self, id: u32) -> Option<&'a [u8]> {
        if self.is_empty() {
            return None;
        }
        self.iter()
            .find_map(|context| (context.id == id).then_some(context.data))
    }

    /// All contexts, in order.
    #[must_use]
    #[inline]
    pub fn iter(&self) -> ServiceContextIter<'a> {
        ServiceContextIter { list: *self, at: 0 }
    }
}

impl<'a> IntoIterator for &ServiceContexts<'a> {
    type Item = ServiceContext<'a>;
    type IntoIter = ServiceContextIter<'a>;
    fn into_iter(self) -> ServiceContextIter<'a> {
        self.iter()
    }
}

/// Iterator over service contexts; see [`ServiceContexts::iter`].
#[derive(Clone, Debug)]
pub struct ServiceContextIter<'a> {
    list: ServiceContexts<'a>,
    at: usize,
}

impl<'a> Iterator for ServiceContextIter<'a> {
    type Item = ServiceContext<'a>;
    fn next(&mut self) -> Option<ServiceContext<'a>> {
        let ServiceContexts { octets, form } = self.list;
        let start = if form.is_packed {
            self.at
        } else {
            padded(self.at)
        };
        let end = extent(octets, start, form.order)?;
        let head = octets.get(start..)?;
        let (id, data) = (head.first_chunk::<4>()?, head.get(8..)?);
        let len = end - start - 8;
        self.at = end;
        Some(ServiceContext {
            id: u32_from(*id, form.order),
            data: data.get(..len)?,
        })
    }
}

/// Encoded service contexts outside of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EncodedContexts {
    octets: Vec<u8>,
    count: u32,
}

impl EncodedContexts {
    /// A copy of these.
    #[must_use]
    pub fn of(contexts: &[ServiceContext<'_>]) -> Self {
        let mut all = Self::default();
        for context in contexts {
            all.octets.resize(padded(all.octets.len()), 0);
            let Ok(len) = u32::try_from(context.data.len()) else {
                break;
            };
            all.octets.extend_from_slice(&context.id.to_ne_bytes());
            all.octets.extend_from_slice(&len.to_ne_bytes());
            all.octets.extend_from_slice(context.data);
            all.count += 1;
        }
        all
    }

    /// All of them, in order.
    #[must_use]
    pub fn contexts(&self) -> ServiceContexts<'_> {
        let form = ListForm::aligned(self.count, ByteOrder::NATIVE);
        ServiceContexts::checked(&self.octets, form)
    }
}

/// Writes a list of contexts: count, then each one.
#[inline]
pub(crate) fn write_list(writer: &mut CdrWriter<'_>, contexts: &[ServiceContext<'_>]) {
    writer.write_count(contexts.len());
    for context in contexts {
        writer.write_u32(context.id);
        writer.write_octets(context.data);
    }
}

/// The end of the context that starts there.
fn extent(octets: &[u8], start: usize, order: ByteOrder) -> Option<usize> {
    let len = octets.get(start.checked_add(4)?..)?.first_chunk::<4>()?;
    let end = (start + 8).checked_add(u32_from(*len, order) as usize)?;
    (end <= octets.len()).then_some(end)
}

/// The start of the context after one that ends there. Lists start at a multiple of four of the
/// message, so alignment is relative to their start.
const fn padded(at: usize) -> usize {
    (at + 3) & !3
}
