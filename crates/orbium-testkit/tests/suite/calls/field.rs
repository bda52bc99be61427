// SPDX-License-Identifier: MIT OR Apache-2.0
//! The constructs of large systems' IDL, called: `idl/field.idl` of this crate.

use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use orbium::stub::ServedBy;
use orbium::{Any, Call, SystemException, TypeCode};
use orbium::{Interface, Orb};

#[allow(clippy::all, clippy::pedantic, clippy::restriction)]
mod generated {
    orbium::include_idl!("field");
}

use generated::field::{cf, control, robot, telescope};

type Answer<T> = Result<T, SystemException>;

/// A server and a client; they are shut down when it is dropped.
struct Orbs {
    server: Orb,
    client: Orb,
}

impl Orbs {
    fn new() -> Self {
        let server = Orb::builder().endpoint("iiop://127.0.0.1:0").unwrap();
        let server = server.build().unwrap();
        server.root_poa().manager().activate().unwrap();
        let client = Orb::builder().build().unwrap();
        Self { server, client }
    }

    /// The object of a servant as a caller of the same ORB has it, and as a remote one.
    fn both<S, I: Interface + ServedBy<S>>(&self, servant: S) -> [I; 2] {
        let here: I = self.server.root_poa().activate(servant).unwrap();
        let text = self.server.object_to_string(here.as_object());
        let remote = self.client.resolve(&text).unwrap();
        [here, remote]
    }
}

impl Drop for Orbs {
    fn drop(&mut self) {
        self.client.shutdown(true).unwrap();
        self.server.shutdown(true).unwrap();
    }
}

/// A device of a control system.
struct Device;

impl control::DeviceServant for Device {
    fn name(&self, _: &Call<'_>) -> Answer<String> {
        Ok("lab/pump/1".to_owned())
    }

    fn state(&self, _: &Call<'_>) -> Answer<control::Condition> {
        Ok(control::Condition::Broken)
    }

    fn execute(
        &self,
        _: &Call<'_>,
        command: &str,
        input: &Any,
    ) -> Result<Any, control::FailedError> {
        match command {
            "Echo" => Ok(input.clone()),
            _ => Err(failed(command).into()),
        }
    }

    fn ping(&self, _: &Call<'_>) -> Result<(), control::FailedError> {
        Ok(())
    }
}

impl control::Device2Servant for Device {
    fn execute_2(
        &self,
        call: &Call<'_>,
        command: &str,
        input: &Any,
    ) -> Result<Any, control::FailedError> {
        control::DeviceServant::execute(self, call, command, input)
    }

    fn read_2(&self, _: &Call<'_>, name: &str) -> Result<control::Data, control::FailedError> {
        match name {
            "State" => Ok(control::Data::Present(control::Condition::Broken)),
            "Image" => Ok(control::Data::Pictures(vec![image()])),
            _ => Err(failed(name).into()),
        }
    }
}

fn failed(reason: &str) -> control::Failed {
    let error = control::Fault {
        reason: reason.to_owned(),
        weight: control::Gravity::Fatal,
        ..control::Fault::default()
    };
    control::Failed {
        errors: vec![error],
    }
}

fn image() -> control::Picture {
    control::Picture {
        format_name: "GRAY8".to_owned(),
        content: vec![0, 127, 255],
    }
}

/// Conformance: IDL - what the field uses: aliases, unions of sequences, anys, interfaces by version
#[test]
fn devices_of_control_systems_are_called() {
    let orbs = Orbs::new();
    for device in orbs.both::<_, control::Device2>(Device) {
        assert_eq!(device.name().as_deref(), Ok("lab/pump/1"));
        let state = device.read_2("State").unwrap();
        assert_eq!(state, control::Data::Present(control::Condition::Broken));
        let read = device.read_2("Image").unwrap();
        assert_eq!(read, control::Data::Pictures(vec![image()]));
        let sent = Any::new(&image()).unwrap();
        let echoed = device.execute("Echo", &sent).unwrap();
        assert_eq!(echoed.extract(), Ok(image()));
        let refused = device.execute_2("Open", &sent);
        assert_eq!(refused, Err(failed("Open").into()));
    }
}

/// A component of a robot.
struct Component;

impl robot::ComponentActionServant for Component {
    fn on_startup(&self, _: &Call<'_>, exec_handle: i32) -> Answer<robot::ReturnCodeT> {
        match exec_handle {
            0 => Ok(robot::ReturnCodeT::BadParameter),
            _ => Ok(robot::ReturnCodeT::RtcOk),
        }
    }
}

impl robot::LightweightRtObjectServant for Component {
    fn initialize(&self, _: &Call<'_>) -> Answer<robot::ReturnCodeT> {
        Ok(robot::ReturnCodeT::RtcOk)
    }

    fn is_alive(&self, _: &Call<'_>, context: Option<&robot::RtObject>) -> Answer<bool> {
        Ok(context.is_some())
    }
}

impl robot::DataFlowActionServant for Component {
    fn on_execute(&self, _: &Call<'_>, _: i32) -> Answer<robot::ReturnCodeT> {
        Ok(robot::ReturnCodeT::RtcError)
    }
}

impl robot::RtObjectServant for Component {
    fn get_ports(&self, _: &Call<'_>) -> Result<robot::PortServiceList, robot::NotAvailableError> {
        let description = "no ports".to_owned();
        Err(robot::NotAvailable { description }.into())
    }

    fn get_parameter(
        &self,
        _: &Call<'_>,
        name: &str,
    ) -> Result<robot::Parameter, robot::NotAvailableOrInvalidParameterError> {
        let constant = robot::Numeric::DoubleValue(0.5);
        Ok(robot::Parameter {
            name: name.to_owned(),
            r#type: TypeCode::from(&robot::RANGE_TYPE_TYPE),
            allowed_values: robot::AllowedValues::AllowedConstant(constant),
        })
    }
}

/// Conformance: IDL - what the field uses: forward declarations in sequences, several bases, TypeCodes, bodies and types out of macros
#[test]
fn components_of_robots_are_called() {
    let orbs = Orbs::new();
    for component in orbs.both::<_, robot::RtObject>(Component) {
        assert_eq!(
            component.on_startup(0),
            Ok(robot::ReturnCodeT::BadParameter)
        );
        assert_eq!(component.on_execute(1), Ok(robot::ReturnCodeT::RtcError));
        assert_eq!(component.is_alive(Some(&component)), Ok(true));
        let parameter = component.get_parameter("gain").unwrap();
        assert_eq!(
            parameter.r#type.id(),
            "IDL:control.example/Field/Robot/RangeType:1.0"
        );
        let description = "no ports".to_owned();
        let refused = robot::NotAvailable { description };
        assert_eq!(component.get_ports(), Err(refused.into()));
    }
}

/// A file system of a radio.
struct Files;

impl cf::FileSystemServant for Files {
    fn r#move(
        &self,
        _: &Call<'_>,
        from: &str,
        to: &str,
    ) -> Result<(), cf::FileExceptionOrInvalidFileNameError> {
        let (error_number, msg) = (cf::ErrorNumberType::CfEacces, from.to_owned());
        match to {
            "" => Err(cf::InvalidFileName { error_number, msg }.into()),
            "/" => Err(cf::FileException { error_number, msg }.into()),
            _ => Ok(()),
        }
    }

    fn list(
        &self,
        _: &Call<'_>,
        pattern: &str,
    ) -> Result<cf::file_system::FileInformationSequence, cf::FileExceptionError> {
        Ok(vec![cf::file_system::FileInformationType {
            name: pattern.to_owned(),
            kind: cf::file_system::FileType::Directory,
            size: u64::MAX,
        }])
    }

    fn open(
        &self,
        _: &Call<'_>,
        _: &str,
        _: bool,
    ) -> Result<Option<cf::File>, cf::FileExceptionError> {
        Ok(None)
    }

    fn query(
        &self,
        _: &Call<'_>,
        properties: &mut cf::Properties,
    ) -> Result<(), cf::UnknownPropertiesError> {
        for property in properties.iter_mut() {
            if property.id != cf::file_system::SIZE {
                let invalid_properties = std::mem::take(properties);
                return Err(cf::file_system::UnknownProperties { invalid_properties }.into());
            }
            property.value = Any::from(7_u64);
        }
        Ok(())
    }
}

/// Conformance: IDL - what the field uses: full names, objects in structs, words of other languages as names
#[test]
fn file_systems_of_radios_are_called() {
    let orbs = Orbs::new();
    for files in orbs.both::<_, cf::FileSystem>(Files) {
        let refused = files.r#move("a", "").unwrap_err();
        assert!(matches!(
            refused,
            cf::FileExceptionOrInvalidFileNameError::InvalidFileName(_)
        ));
        files.r#move("a", "b").unwrap();
        assert_eq!(files.list("*").unwrap()[0].size, u64::MAX);
        assert!(files.open("a", true).unwrap().is_none());
        let property = |id: &str| cf::DataType {
            id: id.to_owned(),
            value: Any::default(),
        };
        let mut known = vec![property("SIZE")];
        files.query(&mut known).unwrap();
        assert_eq!(known[0].value.extract(), Ok(7_u64));
        let refused = files.query(&mut vec![property("COLOUR")]).unwrap_err();
        let cf::UnknownPropertiesError::UnknownProperties(unknown) = refused else {
            panic!("{refused}");
        };
        assert_eq!(unknown.invalid_properties[0].id, "COLOUR");
    }
}

/// A property of a telescope.
struct Property;

impl telescope::ReadStateServant for Property {
    fn get_now(&self, _: &Call<'_>) -> Answer<telescope::ReadStateGetNowResults> {
        let (result, time) = (telescope::State::Busy, 1);
        Ok(telescope::ReadStateGetNowResults { result, time })
    }

    fn get_later(&self, _: &Call<'_>, cb: Option<&telescope::CbState>) -> Answer<()> {
        cb.map_or(Ok(()), |cb| cb.done(telescope::State::Busy, 2))
    }

    fn history(&self, _: &Call<'_>, most: i32) -> Answer<telescope::ReadStateHistoryResults> {
        let values = vec![telescope::State::Idle; most as usize];
        let result = most;
        Ok(telescope::ReadStateHistoryResults { result, values })
    }

    fn usual(&self, _: &Call<'_>) -> Answer<telescope::State> {
        Ok(telescope::State::Idle)
    }

    fn all_conditions(&self, _: &Call<'_>) -> Answer<telescope::StateSeq> {
        Ok(vec![telescope::State::Idle, telescope::State::Busy])
    }
}

struct Taking(Sender<(telescope::State, u64)>);

impl telescope::CbStateServant for Taking {
    fn working(&self, _: &Call<'_>, _: telescope::State, _: u64) -> Answer<()> {
        Ok(())
    }

    fn done(&self, _: &Call<'_>, value: telescope::State, time: u64) -> Answer<()> {
        let _ = self.0.send((value, time));
        Ok(())
    }
}

/// Conformance: IDL - what the field uses: interfaces out of macros that paste names, errors that hold errors
#[test]
fn properties_of_telescopes_call_back() {
    let orbs = Orbs::new();
    let (sender, taken) = channel();
    let call_back: telescope::StateCb =
        Some(orbs.server.root_poa().activate(Taking(sender)).unwrap());
    for property in orbs.both::<_, telescope::ReadState>(Property) {
        property.get_later(call_back.as_ref()).unwrap();
        let done = taken.recv_timeout(Duration::from_secs(60));
        assert_eq!(done, Ok((telescope::State::Busy, 2)));
        assert_eq!(property.history(2).unwrap().values.len(), 2);
        assert_eq!(
            property.all_conditions().unwrap()[1],
            telescope::State::Busy
        );
    }
    let inner = telescope::Cause::default();
    let trace = telescope::Cause {
        caused_by: vec![inner],
        ..telescope::Cause::default()
    };
    let kept = Any::new(&trace).unwrap();
    assert_eq!(kept.extract(), Ok(trace));
}
