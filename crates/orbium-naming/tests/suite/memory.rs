// SPDX-License-Identifier: MIT OR Apache-2.0
//! Naming contexts in memory, for tests: no more of a server than they need.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use orbium::{Call, Completion, Config, ExceptionKind, ObjectRef, Orb, SystemException};
use orbium_naming::cos_naming::naming_context::{
    AlreadyBound, InvalidName, NotEmpty, NotFound, NotFoundReason,
};
use orbium_naming::cos_naming::{
    Binding, BindingIteratorNextNResults, BindingIteratorNextOneResults, BindingIteratorServant,
    BindingType, NameComponent, NamingContext, NamingContextBindError, NamingContextListResults,
    NamingContextRebindError, NamingContextServant, NotEmptyError,
};

/// Something bound.
#[derive(Clone)]
enum Bound {
    Object(Option<ObjectRef>),
    Context(NamingContext),
}

type Key = (String, String);

/// A context, and how many iterators its server keeps.
#[derive(Clone, Default)]
pub(crate) struct Context {
    bindings: Arc<Mutex<BTreeMap<Key, Bound>>>,
    is_destroyed: Arc<AtomicBool>,
    iterators: Arc<AtomicUsize>,
}

/// An ORB that serves a context under the key `NameService`.
pub(crate) struct Names {
    pub(crate) orb: Orb,
    pub(crate) context: Context,
    pub(crate) port: u16,
}

impl Names {
    pub(crate) fn serve() -> Self {
        let config = Config {
            endpoints: vec!["iiop://127.0.0.1:0".parse().unwrap()],
            ..Config::default()
        };
        let orb = Orb::new(config).unwrap();
        let context = Context::default();
        let root: NamingContext = orb.serve("NameService", context.clone()).unwrap();
        drop(root);
        let port = orb.addresses().unwrap()[0].port;
        Self { orb, context, port }
    }

    /// Of the root context, as `corbaloc:` and `corbaname:` have it.
    pub(crate) fn address(&self) -> String {
        format!(":127.0.0.1:{}", self.port)
    }

    pub(crate) fn iterators(&self) -> usize {
        self.context.iterators.load(Ordering::SeqCst)
    }
}

impl Drop for Names {
    fn drop(&mut self) {
        let _ = self.orb.shutdown(true);
    }
}

fn key(component: &NameComponent) -> Key {
    (component.id.clone(), component.kind.clone())
}

fn missing(why: NotFoundReason, rest: &[NameComponent]) -> NamingContextRebindError {
    NotFound {
        why,
        rest_of_name: rest.to_vec(),
    }
    .into()
}

fn widened(error: NamingContextRebindError) -> NamingContextBindError {
    match error {
        NamingContextRebindError::NotFound(it) => it.into(),
        NamingContextRebindError::CannotProceed(it) => it.into(),
        NamingContextRebindError::InvalidName(it) => it.into(),
        NamingContextRebindError::System(it) => it.into(),
    }
}

/// Where an operation is to be done: here, or in the context behind the first component.
enum Place<'n> {
    Here(&'n NameComponent),
    Behind(NamingContext, &'n [NameComponent]),
}

impl Context {
    fn get(&self, component: &NameComponent) -> Option<Bound> {
        let bindings = self.bindings.lock().unwrap_or_else(PoisonError::into_inner);
        bindings.get(&key(component)).cloned()
    }

    fn put(&self, component: &NameComponent, bound: Bound) {
        let mut bindings = self.bindings.lock().unwrap_or_else(PoisonError::into_inner);
        bindings.insert(key(component), bound);
    }

    fn place<'n>(&self, name: &'n [NameComponent]) -> Result<Place<'n>, NamingContextRebindError> {
        if self.is_destroyed.load(Ordering::SeqCst) {
            return Err(SystemException::from(ExceptionKind::ObjectNotExist).into());
        }
        match name {
            [] => Err(InvalidName {}.into()),
            [last] => Ok(Place::Here(last)),
            [first, rest @ ..] => match self.get(first) {
                Some(Bound::Context(context)) => Ok(Place::Behind(context, rest)),
                Some(Bound::Object(_)) => Err(missing(NotFoundReason::NotContext, name)),
                None => Err(missing(NotFoundReason::MissingNode, name)),
            },
        }
    }

    fn make(&self, call: &Call<'_>) -> Result<NamingContext, SystemException> {
        let made = Self {
            bindings: Arc::default(),
            is_destroyed: Arc::default(),
            iterators: Arc::clone(&self.iterators),
        };
        call.orb().root_poa().activate(made).map_err(failed)
    }

    fn put_new(
        &self,
        name: &[NameComponent],
        bound: Bound,
        behind: impl FnOnce(NamingContext, &[NameComponent]) -> Result<(), NamingContextBindError>,
    ) -> Result<(), NamingContextBindError> {
        match self.place(name).map_err(widened)? {
            Place::Here(last) if self.get(last).is_some() => Err(AlreadyBound {}.into()),
            Place::Here(last) => {
                self.put(last, bound);
                Ok(())
            }
            Place::Behind(context, rest) => behind(context, rest),
        }
    }
}

fn failed(_: orbium::poa::PoaError) -> SystemException {
    SystemException::new(ExceptionKind::Internal, 0, Completion::No)
}

impl NamingContextServant for Context {
    fn bind(
        &self,
        _: &Call<'_>,
        n: &[NameComponent],
        obj: Option<&ObjectRef>,
    ) -> Result<(), NamingContextBindError> {
        self.put_new(n, Bound::Object(obj.cloned()), |context, rest| {
            context.bind(rest, obj)
        })
    }

    fn rebind(
        &self,
        _: &Call<'_>,
        n: &[NameComponent],
        obj: Option<&ObjectRef>,
    ) -> Result<(), NamingContextRebindError> {
        match self.place(n)? {
            Place::Here(last) => match self.get(last) {
                Some(Bound::Context(_)) => Err(missing(NotFoundReason::NotObject, n)),
                _ => {
                    self.put(last, Bound::Object(obj.cloned()));
                    Ok(())
                }
            },
            Place::Behind(context, rest) => context.rebind(rest, obj),
        }
    }

    fn bind_context(
        &self,
        _: &Call<'_>,
        n: &[NameComponent],
        nc: Option<&NamingContext>,
    ) -> Result<(), NamingContextBindError> {
        let nc = nc.ok_or(SystemException::from(ExceptionKind::BadParam))?;
        self.put_new(n, Bound::Context(nc.clone()), |context, rest| {
            context.bind_context(rest, Some(nc))
        })
    }

    fn rebind_context(
        &self,
        _: &Call<'_>,
        n: &[NameComponent],
        nc: Option<&NamingContext>,
    ) -> Result<(), NamingContextRebindError> {
        let nc = nc.ok_or(SystemException::from(ExceptionKind::BadParam))?;
        match self.place(n)? {
            Place::Here(last) => match self.get(last) {
                Some(Bound::Object(_)) => Err(missing(NotFoundReason::NotContext, n)),
                _ => {
                    self.put(last, Bound::Context(nc.clone()));
                    Ok(())
                }
            },
            Place::Behind(context, rest) => context.rebind_context(rest, Some(nc)),
        }
    }

    fn resolve(
        &self,
        _: &Call<'_>,
        n: &[NameComponent],
    ) -> Result<Option<ObjectRef>, NamingContextRebindError> {
        match self.place(n)? {
            Place::Here(last) => match self.get(last) {
                Some(Bound::Object(object)) => Ok(object),
                Some(Bound::Context(context)) => Ok(Some(context.into())),
                None => Err(missing(NotFoundReason::MissingNode, n)),
            },
            Place::Behind(context, rest) => context.resolve(rest),
        }
    }

    fn unbind(&self, _: &Call<'_>, n: &[NameComponent]) -> Result<(), NamingContextRebindError> {
        match self.place(n)? {
            Place::Here(last) => {
                let mut bindings = self.bindings.lock().unwrap_or_else(PoisonError::into_inner);
                let removed = bindings.remove(&key(last));
                drop(bindings);
                match removed {
                    Some(_) => Ok(()),
                    None => Err(missing(NotFoundReason::MissingNode, n)),
                }
            }
            Place::Behind(context, rest) => context.unbind(rest),
        }
    }

    fn new_context(&self, call: &Call<'_>) -> Result<Option<NamingContext>, SystemException> {
        self.make(call).map(Some)
    }

    fn bind_new_context(
        &self,
        call: &Call<'_>,
        n: &[NameComponent],
    ) -> Result<Option<NamingContext>, NamingContextBindError> {
        let made = self.make(call)?;
        self.bind_context(call, n, Some(&made))?;
        Ok(Some(made))
    }

    fn destroy(&self, _: &Call<'_>) -> Result<(), NotEmptyError> {
        let bindings = self.bindings.lock().unwrap_or_else(PoisonError::into_inner);
        if bindings.is_empty() {
            self.is_destroyed.store(true, Ordering::SeqCst);
            Ok(())
        } else {
            Err(NotEmpty {}.into())
        }
    }

    fn list(
        &self,
        call: &Call<'_>,
        how_many: u32,
    ) -> Result<NamingContextListResults, SystemException> {
        let bindings = self.bindings.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<_> = bindings.iter().map(binding).collect();
        drop(bindings);
        let rest = all.split_off(all.len().min(how_many as usize));
        let iterator = (!rest.is_empty()).then(|| Iterator {
            rest: Mutex::new(rest),
            alive: Arc::clone(&self.iterators),
        });
        let bi = iterator.map(|iterator| {
            iterator.alive.fetch_add(1, Ordering::SeqCst);
            call.orb().root_poa().activate(iterator).map_err(failed)
        });
        Ok(NamingContextListResults {
            bl: all,
            bi: bi.transpose()?,
        })
    }
}

fn binding((key, bound): (&Key, &Bound)) -> Binding {
    let (id, kind) = key.clone();
    Binding {
        binding_name: vec![NameComponent { id, kind }],
        binding_type: match bound {
            Bound::Object(_) => BindingType::Nobject,
            Bound::Context(_) => BindingType::Ncontext,
        },
    }
}

struct Iterator {
    rest: Mutex<Vec<Binding>>,
    alive: Arc<AtomicUsize>,
}

impl BindingIteratorServant for Iterator {
    fn next_one(&self, call: &Call<'_>) -> Result<BindingIteratorNextOneResults, SystemException> {
        let mut one = self.next_n(call, 1)?;
        let b = one.bl.pop();
        Ok(BindingIteratorNextOneResults {
            result: b.is_some(),
            b: b.unwrap_or_default(),
        })
    }

    fn next_n(
        &self,
        _: &Call<'_>,
        how_many: u32,
    ) -> Result<BindingIteratorNextNResults, SystemException> {
        let mut rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner);
        let most = rest.len().min(how_many as usize);
        let bl: Vec<_> = rest.drain(..most).collect();
        Ok(BindingIteratorNextNResults {
            result: !bl.is_empty(),
            bl,
        })
    }

    fn destroy(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.alive.fetch_sub(1, Ordering::SeqCst);
        Ok(())
    }
}
